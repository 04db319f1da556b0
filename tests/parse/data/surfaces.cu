// nvcc -ptx -std=c++17 -arch=sm_80: surfaces and textures through objects.
extern "C" __global__ void surfaces(cudaSurfaceObject_t s, cudaTextureObject_t t, float4 *x) {
  int i = threadIdx.x; float4 v; uchar2 u; 
  surf2Dread(&v, s, i * 16, 3, cudaBoundaryModeClamp); surf2Dwrite(v, s, i * 16, 4, cudaBoundaryModeZero);
  surf1Dread(&u, s, i * 2); surf3Dwrite(u, s, i * 2, 1, 2); surf2DLayeredwrite(v.x, s, i * 4, 1, 5);
  x[i] = tex2D<float4>(t, 0.5f, i); x[i].x += tex3DLod<float>(t, 1.f, 2.f, 3.f, 0.5f) + tex1Dfetch<float>(t, i) + tex2DGrad<float>(t, 0.f, 1.f, make_float2(1, 2), make_float2(3, 4));
  x[i].y += texCubemap<float>(t, 1.f, 2.f, 3.f) + tex2DLayered<float>(t, 1.f, 2.f, 3) + tex2Dgather<float4>(t, 1.f, 2.f, 1).w;
}
