// Volta's tensor cores: 32 by 8 tiles of f16, sums in f32 and in f16, and a strided walk through k.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void volta_wmma(const half *a, const half *b, float *d, half *e, int k) {
    wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> wide;
    wmma::fragment<wmma::accumulator, 32, 8, 16, half> narrow;
    wmma::fill_fragment(wide, 0.0f);
    wmma::fill_fragment(narrow, __float2half(0.0f));
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + i, k);
        wmma::load_matrix_sync(fb, b + i, k);
        wmma::mma_sync(wide, fa, fb, wide);
        wmma::mma_sync(narrow, fa, fb, narrow);
    }
    wmma::store_matrix_sync(d, wide, 8, wmma::mem_row_major);
    wmma::store_matrix_sync(e, narrow, 32, wmma::mem_col_major);
}
