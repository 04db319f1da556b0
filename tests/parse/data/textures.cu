// nvcc -ptx -std=c++17 -arch=sm_80
extern "C" __global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float4 *y, int n) {
  int i = threadIdx.x; float4 v = tex2D<float4>(t, i * 0.5f, 2.0f); float w = tex1Dfetch<float>(t, i); float4 g = tex2Dgather<float4>(t, 1.f, 2.f, 1);
  surf2Dwrite(v, s, i * 16, 3); float u; surf1Dread(&u, s, i * 4); v.x += w + u + g.y + tex2DLod<float>(t, 0.f, 1.f, 2.f) + tex3D<float>(t, 1.f, 2.f, 3.f); y[i] = v;
}
