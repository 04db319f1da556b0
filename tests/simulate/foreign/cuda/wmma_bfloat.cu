// Products of bf16 on tensor cores, 32 by 8 tiles, and of tf32.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_bfloat(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *d, const float *e, const float *f, float *g) {
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 8);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fe;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> ff;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> other;
    wmma::fill_fragment(other, 0.0f);
    wmma::load_matrix_sync(fe, e, 8);
    wmma::load_matrix_sync(ff, f, 8);
    for (int i = 0; i < fe.num_elements; ++i) fe.x[i] = wmma::__float_to_tf32(fe.x[i]);
    for (int i = 0; i < ff.num_elements; ++i) ff.x[i] = wmma::__float_to_tf32(ff.x[i]);
    wmma::mma_sync(other, fe, ff, other);
    wmma::store_matrix_sync(g, other, 16, wmma::mem_row_major);
}
