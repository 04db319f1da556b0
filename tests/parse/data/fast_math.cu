// nvcc -ptx -std=c++17 -arch=sm_80 -use_fast_math: approximations and flushing to zero.
extern "C" __global__ void fast_math(float *x, double *d) {
  int i = threadIdx.x; float v = x[i];
  x[i] = sinf(v) + cosf(v) / v + expf(v) * logf(v) + sqrtf(v) + powf(v, 1.7f) + tanf(v) + rsqrtf(v) + fminf(v, 2.f) + __saturatef(v) + fmaf(v, v, 1.f) + rintf(v) + truncf(v) + (float)(int)v;
  d[i] = d[i] / 3.0 + rcbrt(d[i]);
}
