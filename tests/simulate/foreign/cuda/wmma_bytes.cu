// Products of bytes on tensor cores, 8 by 32 tiles.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_bytes(const signed char *a, const signed char *b, int *d, int k) {
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
    wmma::fill_fragment(sum, -7);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + i, k);
        wmma::load_matrix_sync(fb, b + i, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(d, sum, 32, wmma::mem_row_major);
}
