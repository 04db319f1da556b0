// Accelerations of bodies, tiles of them in shared memory.
extern "C" __global__ void nbody(const float4 *bodies, float3 *accelerations, int n) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 own = bodies[i];
    float3 a = {0, 0, 0};
    for (int start = 0; start < n; start += 64) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 64; ++k) {
            float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = tile[k].w * inverse * inverse * inverse;
            a.x += s * dx, a.y += s * dy, a.z += s * dz;
        }
        __syncthreads();
    }
    accelerations[i] = a;
}
