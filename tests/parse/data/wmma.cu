// nvcc -ptx -std=c++17 -arch=sm_80
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void tensor(const half *a, const half *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc; wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < 64; k += 16) { wmma::load_matrix_sync(fa, a + k, 64); wmma::load_matrix_sync(fb, b + k, 64); wmma::mma_sync(fc, fa, fb, fc); }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
