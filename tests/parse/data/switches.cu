// nvcc -ptx -std=c++17 -arch=sm_80
extern "C" __global__ void switches(int *x, const char *code, int n) {
  int a = x[0], b = x[1];
  for (int i = 0; i < n; i++) switch (code[i]) {
    case 0: a += b; break; case 1: a -= b; break; case 2: a *= b; break; case 3: a ^= b; break; case 4: a <<= b & 31; break;
    case 5: a = min(a, b); break; case 6: a = __popc(a); break; case 7: b = __clz(a); break; case 8: b = __brev(a); break;
    case 9: a = __byte_perm(a, b, 0x5410); break; case 10: a = __ffs(b); break; case 11: { int t = a; a = b; b = t; } break;
    default: return; }
  x[0] = a; x[1] = b;
}
