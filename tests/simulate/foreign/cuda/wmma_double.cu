// Products of doubles on tensor cores.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_double(const double *a, const double *b, double *d, int k) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.0);
    for (int i = 0; i < k; i += 4) {
        wmma::load_matrix_sync(fa, a + i, k);
        wmma::load_matrix_sync(fb, b + i * 8, 8);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(d, sum, 8, wmma::mem_col_major);
}
