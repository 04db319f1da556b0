// CRC-32 of rows with a table in constant memory made at compile time, and FNV-1a.
struct Table { unsigned entry[256]; };
constexpr Table made() {
    Table t{};
    for (unsigned i = 0; i < 256; ++i) {
        unsigned c = i;
        for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        t.entry[i] = c;
    }
    return t;
}
__constant__ Table table = made();
extern "C" __global__ void checksum(const unsigned char *rows, int length, unsigned *crc, unsigned long long *fnv) {
    const unsigned char *row = rows + threadIdx.x * length;
    unsigned c = ~0u;
    unsigned long long h = 14695981039346656037ull;
    for (int i = 0; i < length; ++i) {
        c = table.entry[(c ^ row[i]) & 255] ^ (c >> 8);
        h = (h ^ row[i]) * 1099511628211ull;
    }
    crc[threadIdx.x] = ~c, fnv[threadIdx.x] = h;
}
