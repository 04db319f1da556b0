"""What may follow what in an instruction's name: made by `python -m ptxgen.build.stubs`, not by hand."""

from collections.abc import Sequence
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias

from ptxgen.build.handles import Label, Not, Offset, SpecialRegister, Symbol, Value, _SinkType

Scalar: TypeAlias = Value | Not | Offset | Symbol | Label | SpecialRegister | SupportsFloat | SupportsIndex | _SinkType
Source: TypeAlias = Scalar | Sequence[Scalar | Sequence[Scalar]]
Destination: TypeAlias = Value | _SinkType

class Call:
    def __call__(self, *sources: Source, into: Destination | Sequence[Destination | None] | None = None) -> Any: ...

class W1:
    f16: Call
    f16x2: Call
    f32: Call

class W2:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    s16: Call
    s32: Call
    s64: Call

class W3:
    b32: Call

class W4:
    f32x2: Call

class W5(Call):
    f32x2: W4

class W6:
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W7:
    e2m3x4: Call
    e3m2x4: Call
    e4m3x4: Call
    e5m2x4: Call

class W8(Call):
    bf16: Call
    f16: Call

class W9(Call):
    bf16x2: W4
    f16x2: W4

class W10:
    f16: Call
    f16x2: W5
    f32: Call
    f32x2: Call
    sat: W1

class W11:
    f32: Call

class W12:
    f32: Call
    f32x2: Call
    sat: W11

class W13:
    f32: W8

class W14:
    f32: W8
    f32x2: W9
    f64: Call
    ftz: W12
    sat: W13

class W15:
    f16: Call
    f16x2: Call
    f32: Call
    f32x2: Call
    sat: W1

class W16:
    f16: Call
    f16x2: Call
    f32: W8

class W17:
    e4m3x4: W7
    e5m2x4: W7

class W18:
    bf16: Call
    bf16x2: Call
    e4m3x4: W7
    e5m2x4: W7
    f16: Call
    f16x2: Call
    f32: W8
    f32x2: W9
    f64: Call
    ftz: W15
    sat: W16
    satfinite: W17

class W19:
    f32x2: W4

class W20:
    f16x2: W19
    f32: Call
    f32x2: Call
    sat: W11

class W21:
    bf16x2: W19
    f32: W8
    f32x2: W9
    f64: Call
    ftz: W20
    sat: W13

class W22:
    f16: Call
    f16x2: Call
    f32: W8
    s16x2: Call
    s32: Call
    s8x4: Call
    u16x2: Call
    u32: Call
    u8x4: Call

class W23:
    bf16: Call
    bf16x2: W5
    cc: W6
    e4m3x4: W7
    e5m2x4: W7
    f16: Call
    f16x2: Call
    f32: W8
    f32x2: W9
    f64: Call
    ftz: W10
    rm: W14
    rn: W18
    rp: W14
    rz: W21
    s16: Call
    s16x2: Call
    s32: Call
    s64: Call
    s8x4: Call
    sat: W22
    satfinite: W17
    u16: Call
    u16x2: Call
    u32: Call
    u64: Call
    u8x4: Call

class W24:
    cc: W6
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W25:
    u32: Call
    u64: Call

class W26:
    b16: Call
    b32: Call
    b64: Call
    pred: Call

class W27:
    L2__evict_normal: Call

class W28:
    bulk_group: W27

class W29(Call):
    override__global_dim: Call

class W30(Call):
    override__global_address: W29

class W31:
    L2__evict_normal: W30

class W32:
    bulk_group: W31

class W33:
    bulk_group: W31
    tile: W32

class W34:
    bulk_group: W31
    global_: W33
    tile: W32

class W35(Call):
    override__global_dim_stride: Call

class W36(Call):
    override__global_address: W35

class W37:
    L2__evict_normal: W36

class W38:
    bulk_group: W37

class W39:
    bulk_group: W37
    tile: W38

class W40:
    bulk_group: W37
    global_: W39
    tile: W38

class W41:
    _1d: W34
    _2d: W40
    _3d: W40
    _4d: W40
    _5d: W40

class W42:
    bulk_group: W27
    global_: W28
    tensor: W41

class W43:
    bulk: W42

class W44:
    L2__evict_normal: Call
    async_: W43
    global_: W27

class W45:
    f32: Call
    f64: Call
    s32: Call
    u32: Call
    u64: Call
    v2: W11
    v4: W11

class W46:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call

class W47:
    bf16: Call
    f16: Call

class W48:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    v2: W46
    v4: W46
    v8: W47

class W49:
    L2__cache_hint: W48
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    v2: W46
    v4: W46
    v8: W47

class W50:
    L2__cache_hint: W45
    f32: Call
    f64: Call
    noftz: W49
    s32: Call
    u32: Call
    u64: Call
    v2: W11
    v4: W11

class W51:
    b32: Call
    b64: Call

class W52:
    L2__cache_hint: W51
    b32: Call
    b64: Call

class W53:
    b128: Call
    b16: Call
    b32: Call
    b64: Call

class W54:
    u32: Call

class W55:
    L2__cache_hint: W54
    u32: Call

class W56:
    b128: Call
    b32: Call
    b64: Call

class W57:
    L2__cache_hint: W56
    b128: Call
    b32: Call
    b64: Call

class W58:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call

class W59:
    v2: W58
    v4: W58
    v8: W47

class W60:
    L2__cache_hint: W59
    v2: W58
    v4: W58
    v8: W47

class W61:
    L2__cache_hint: W6
    noftz: W60
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W62:
    add: W50
    and_: W52
    cas: W53
    dec: W55
    exch: W57
    inc: W55
    max: W61
    min: W61
    or_: W52
    xor: W52

class W63:
    f32: Call
    f64: Call
    noftz: W46
    s32: Call
    u32: Call
    u64: Call

class W64:
    add: W63
    and_: W51
    cas: W53
    dec: W54
    exch: W56
    inc: W54
    max: W6
    min: W6
    or_: W51
    xor: W51

class W65:
    add: W50
    and_: W52
    cas: W53
    dec: W55
    exch: W57
    global_: W62
    inc: W55
    max: W61
    min: W61
    or_: W52
    shared: W64
    shared__cluster: W64
    shared__cta: W64
    xor: W52

class W66:
    add: W50
    and_: W52
    cas: W53
    cluster: W65
    cta: W65
    dec: W55
    exch: W57
    global_: W62
    gpu: W65
    inc: W55
    max: W61
    min: W61
    or_: W52
    shared: W64
    shared__cluster: W64
    shared__cta: W64
    sys: W65
    xor: W52

class W67:
    acq_rel: W66
    acquire: W66
    add: W50
    and_: W52
    cas: W53
    cluster: W65
    cta: W65
    dec: W55
    exch: W57
    global_: W62
    gpu: W65
    inc: W55
    max: W61
    min: W61
    or_: W52
    relaxed: W66
    release: W66
    shared: W64
    shared__cluster: W64
    shared__cta: W64
    sys: W65
    xor: W52

class W68:
    pred: Call

class W69:
    and_: W68
    or_: W68
    popc: W54

class W70:
    arrive: Call
    red: W69
    sync: Call

class W71:
    sync: Call

class W72:
    arrive: Call
    cta: W70
    red: W69
    sync: Call
    warp: W71

class W73(Call):
    aligned: Call

class W74(Call):
    aligned: Call
    relaxed: W73
    release: W73

class W75(Call):
    acquire: W73
    aligned: Call

class W76:
    arrive: W74
    wait: W75

class W77:
    aligned: W68
    pred: Call

class W78:
    aligned: W54
    u32: Call

class W79:
    and_: W77
    or_: W77
    popc: W78

class W80:
    arrive: W73
    red: W79
    sync: W73

class W81:
    arrive: W73
    cluster: W76
    cta: W80
    red: W79
    sync: W73

class W82:
    s32: Call
    s64: Call
    shiftamt: W6
    u32: Call
    u64: Call

class W83:
    clamp: W3
    wrap: W3

class W84(Call):
    uni: Call

class W85:
    idx: W84

class W86:
    u64: Call

class W87:
    hi: W86
    lo: W86

class W88:
    b128: Call

class W89:
    b32: W88

class W90:
    v4: W89

class W91:
    pred: W88

class W92:
    get_first_ctaid: W90
    get_first_ctaid__x: W89
    get_first_ctaid__y: W89
    get_first_ctaid__z: W89
    is_canceled: W91

class W93:
    b128: Call
    multicast__cluster__all: W88

class W94:
    mbarrier__complete_tx__bytes: W93

class W95:
    mbarrier__complete_tx__bytes: W93
    shared__cta: W94

class W96:
    async_: W95

class W97:
    query_cancel: W92
    try_cancel: W96

class W98:
    b16: Call
    b32: Call
    b64: Call

class W99:
    f32: Call
    f64: Call

class W100:
    f32: Call
    ftz: W11

class W101:
    approx: W100

class W102(Call):
    cp_mask: Call

class W103(Call):
    L2__cache_hint: W102
    cp_mask: Call

class W104:
    bulk_group: W103

class W105:
    shared__cta: W104

class W106(Call):
    L2__cache_hint: Call
    L2__evict_last: Call

class W107:
    global_: W106

class W108(Call):
    L2__cache_hint: W30
    L2__evict_last: W30
    override__global_address: W29

class W109(Call):
    L2__cache_hint: W30
    L2__evict_last: W30
    override__global_address: W29
    tile: W108

class W110:
    global_: W109

class W111:
    L2: W110

class W112(Call):
    L2__cache_hint: W36
    L2__evict_last: W36
    override__global_address: W35

class W113(Call):
    override__global_address: Call

class W114(Call):
    L2__cache_hint: W113
    L2__evict_last: W113
    override__global_address: Call

class W115(Call):
    L2__cache_hint: W36
    L2__evict_last: W36
    override__global_address: W35
    tile: W112
    tile__gather4: W114

class W116:
    global_: W115

class W117:
    L2: W116

class W118(Call):
    L2__cache_hint: W36
    L2__evict_last: W36
    im2col: W114
    im2col__w: W114
    im2col__w__128: W114
    override__global_address: W35
    tile: W112

class W119:
    global_: W118

class W120:
    L2: W119

class W121:
    _1d: W111
    _2d: W117
    _3d: W120
    _4d: W120
    _5d: W120

class W122:
    L2: W107
    tensor: W121

class W123:
    b128: Call
    cp_mask: W88

class W124:
    L2__cache_hint: W123
    b128: Call
    cp_mask: W88

class W125:
    bulk_group: W124

class W126:
    shared__cta: W125

class W127:
    L2__cache_hint: W88
    b128: Call

class W128:
    L2__cache_hint: W88
    b128: Call
    multicast__cluster: W127
    multicast__cluster__16b: W127
    multicast__cluster__32b: W127

class W129:
    L2__cache_hint: W88
    b128: Call
    mbarrier__report__disabled: W128
    mbarrier__report__validity__per_16bytes__8: W128
    mbarrier__report__validity__per_16bytes__80: W128
    mbarrier__report__validity__per_16bytes__8000: W128
    mbarrier__report__validity__per_16bytes__80000000: W128
    mbarrier__report__validity__per_element__ff: W128
    multicast__cluster: W127
    multicast__cluster__16b: W127
    multicast__cluster__32b: W127

class W130:
    mbarrier__complete_tx__bytes: W129

class W131:
    mbarrier__complete_tx__bytes: W88

class W132:
    global_: W130
    shared__cta: W131

class W133:
    b128: Call
    ignore_oob: W88

class W134:
    L2__cache_hint: W133
    b128: Call
    ignore_oob: W88

class W135:
    L2__cache_hint: W133
    b128: Call
    ignore_oob: W88
    mbarrier__report__disabled: W134
    mbarrier__report__validity__per_16bytes__8: W127
    mbarrier__report__validity__per_16bytes__80: W127
    mbarrier__report__validity__per_16bytes__8000: W127
    mbarrier__report__validity__per_16bytes__80000000: W127
    mbarrier__report__validity__per_element__ff: W127

class W136:
    mbarrier__complete_tx__bytes: W135

class W137:
    global_: W136

class W138:
    global_: W126
    shared__cluster: W132
    shared__cta: W137

class W139:
    global_: W130

class W140:
    global_: W126
    shared__cluster: W139
    shared__cta: W137

class W141:
    cluster: W138
    cta: W138
    gpu: W140
    sys: W140

class W142(Call):
    L2__cache_hint: Call

class W143(Call):
    L2__cache_hint: Call
    multicast__cluster: W142
    multicast__cluster__16b: W142
    multicast__cluster__32b: W142

class W144(Call):
    L2__cache_hint: Call
    mbarrier__report__disabled: W143
    mbarrier__report__validity__per_16bytes__8: W143
    mbarrier__report__validity__per_16bytes__80: W143
    mbarrier__report__validity__per_16bytes__8000: W143
    mbarrier__report__validity__per_16bytes__80000000: W143
    mbarrier__report__validity__per_element__ff: W143
    multicast__cluster: W142
    multicast__cluster__16b: W142
    multicast__cluster__32b: W142

class W145:
    mbarrier__complete_tx__bytes: W144

class W146:
    mbarrier__complete_tx__bytes: Call

class W147:
    global_: W145
    shared__cta: W146

class W148(Call):
    ignore_oob: Call

class W149(Call):
    L2__cache_hint: W148
    ignore_oob: Call

class W150(Call):
    L2__cache_hint: W148
    ignore_oob: Call
    mbarrier__report__disabled: W149
    mbarrier__report__validity__per_16bytes__8: W142
    mbarrier__report__validity__per_16bytes__80: W142
    mbarrier__report__validity__per_16bytes__8000: W142
    mbarrier__report__validity__per_16bytes__80000000: W142
    mbarrier__report__validity__per_element__ff: W142

class W151:
    mbarrier__complete_tx__bytes: W150

class W152:
    global_: W151

class W153(Call):
    L2__cache_hint: W30
    override__global_address: W29

class W154:
    bulk_group: W153

class W155:
    bulk_group: W153
    tile: W154

class W156:
    shared__cta: W155

class W157(Call):
    L2__cache_hint: W113
    override__global_address: Call

class W158(Call):
    L2__cache_hint: W113
    cta_group__1: W157
    cta_group__2: W157
    override__global_address: Call

class W159(Call):
    L2__cache_hint: W30
    cta_group__1: W153
    cta_group__2: W153
    override__global_address: W29

class W160(Call):
    L2__cache_hint: W30
    cta_group__1: W153
    cta_group__2: W153
    multicast__cluster: W158
    multicast__cluster__16b: W158
    multicast__cluster__32b: W159
    override__global_address: W29

class W161(Call):
    L2__cache_hint: W30
    cta_group__1: W153
    cta_group__2: W153
    mbarrier__report__disabled: W160
    mbarrier__report__validity__per_16bytes__8: W160
    mbarrier__report__validity__per_16bytes__80: W160
    mbarrier__report__validity__per_16bytes__8000: W160
    mbarrier__report__validity__per_16bytes__80000000: W160
    mbarrier__report__validity__per_element__ff: W160
    multicast__cluster: W158
    multicast__cluster__16b: W158
    multicast__cluster__32b: W159
    override__global_address: W29

class W162:
    mbarrier__complete_tx__bytes: W161

class W163:
    mbarrier__complete_tx__bytes: W161
    tile: W162

class W164:
    global_: W163

class W165(Call):
    L2__cache_hint: W30
    cta_group__1: W153
    cta_group__2: W153
    mbarrier__report__disabled: W159
    mbarrier__report__validity__per_16bytes__8: W159
    mbarrier__report__validity__per_16bytes__80: W159
    mbarrier__report__validity__per_16bytes__8000: W159
    mbarrier__report__validity__per_16bytes__80000000: W159
    mbarrier__report__validity__per_element__ff: W159
    override__global_address: W29

class W166:
    mbarrier__complete_tx__bytes: W165

class W167:
    mbarrier__complete_tx__bytes: W165
    tile: W166

class W168:
    global_: W167

class W169:
    global_: W156
    shared__cluster: W164
    shared__cta: W168

class W170(Call):
    L2__cache_hint: W36
    override__global_address: W35

class W171:
    bulk_group: W170

class W172:
    bulk_group: W157

class W173:
    bulk_group: W170
    tile: W171
    tile__scatter4: W172

class W174:
    shared__cta: W173

class W175(Call):
    L2__cache_hint: W36
    cta_group__1: W170
    cta_group__2: W170
    override__global_address: W35

class W176(Call):
    L2__cache_hint: W36
    cta_group__1: W170
    cta_group__2: W170
    multicast__cluster: W158
    multicast__cluster__16b: W158
    multicast__cluster__32b: W175
    override__global_address: W35

class W177(Call):
    L2__cache_hint: W36
    cta_group__1: W170
    cta_group__2: W170
    mbarrier__report__disabled: W176
    mbarrier__report__validity__per_16bytes__8: W176
    mbarrier__report__validity__per_16bytes__80: W176
    mbarrier__report__validity__per_16bytes__8000: W176
    mbarrier__report__validity__per_16bytes__80000000: W176
    mbarrier__report__validity__per_element__ff: W176
    multicast__cluster: W158
    multicast__cluster__16b: W158
    multicast__cluster__32b: W175
    override__global_address: W35

class W178:
    mbarrier__complete_tx__bytes: W177

class W179(Call):
    L2__cache_hint: W113
    cta_group__1: W157
    cta_group__2: W157
    multicast__cluster: W158
    multicast__cluster__16b: W158
    multicast__cluster__32b: W158
    override__global_address: Call

class W180(Call):
    L2__cache_hint: W113
    cta_group__1: W157
    cta_group__2: W157
    mbarrier__report__disabled: W179
    mbarrier__report__validity__per_16bytes__8: W179
    mbarrier__report__validity__per_16bytes__80: W179
    mbarrier__report__validity__per_16bytes__8000: W179
    mbarrier__report__validity__per_16bytes__80000000: W179
    mbarrier__report__validity__per_element__ff: W179
    multicast__cluster: W158
    multicast__cluster__16b: W158
    multicast__cluster__32b: W158
    override__global_address: Call

class W181:
    mbarrier__complete_tx__bytes: W180

class W182:
    mbarrier__complete_tx__bytes: W177
    tile: W178
    tile__gather4: W181

class W183:
    global_: W182

class W184(Call):
    L2__cache_hint: W36
    cta_group__1: W170
    cta_group__2: W170
    mbarrier__report__disabled: W175
    mbarrier__report__validity__per_16bytes__8: W175
    mbarrier__report__validity__per_16bytes__80: W175
    mbarrier__report__validity__per_16bytes__8000: W175
    mbarrier__report__validity__per_16bytes__80000000: W175
    mbarrier__report__validity__per_element__ff: W175
    override__global_address: W35

class W185:
    mbarrier__complete_tx__bytes: W184

class W186(Call):
    L2__cache_hint: W113
    cta_group__1: W157
    cta_group__2: W157
    mbarrier__report__disabled: W158
    mbarrier__report__validity__per_16bytes__8: W158
    mbarrier__report__validity__per_16bytes__80: W158
    mbarrier__report__validity__per_16bytes__8000: W158
    mbarrier__report__validity__per_16bytes__80000000: W158
    mbarrier__report__validity__per_element__ff: W158
    override__global_address: Call

class W187:
    mbarrier__complete_tx__bytes: W186

class W188:
    mbarrier__complete_tx__bytes: W184
    tile: W185
    tile__gather4: W187

class W189:
    global_: W188

class W190:
    global_: W174
    shared__cluster: W183
    shared__cta: W189

class W191:
    bulk_group: W170
    im2col_no_offs: W172
    im2col_no_offs__w: W172
    tile: W171

class W192:
    shared__cta: W191

class W193:
    im2col: W181
    im2col__w: W181
    im2col__w__128: W181
    mbarrier__complete_tx__bytes: W177
    tile: W178

class W194:
    global_: W193

class W195:
    im2col: W187
    im2col__w: W187
    im2col__w__128: W187
    mbarrier__complete_tx__bytes: W184
    tile: W185

class W196:
    global_: W195

class W197:
    global_: W192
    shared__cluster: W194
    shared__cta: W196

class W198:
    _1d: W169
    _2d: W190
    _3d: W197
    _4d: W197
    _5d: W197

class W199(Call):
    read: Call

class W200:
    global_: W105
    shared__cluster: W147
    shared__cta: W152

class W201:
    commit_group: Call
    global_: W105
    prefetch: W122
    relaxed: W141
    shared__cluster: W147
    shared__cta: W152
    tensor: W198
    wait_group: W199
    weak: W200

class W202(Call):
    L2__128B: Call
    L2__256B: Call
    L2__64B: Call

class W203(Call):
    L2__128B: Call
    L2__256B: Call
    L2__64B: Call
    L2__cache_hint: W202

class W204:
    global_: W203

class W205:
    shared: W204
    shared__cta: W204

class W206:
    b64: Call

class W207:
    b64: Call
    shared: W206
    shared__cta: W206

class W208:
    b64: Call
    noinc: W207
    shared: W206
    shared__cta: W206

class W209:
    arrive: W208

class W210:
    bulk: W201
    ca: W205
    cg: W205
    commit_group: Call
    mbarrier: W209
    wait_all: Call
    wait_group: Call

class W211:
    bf16: Call
    f16: Call
    f32: Call

class W212:
    f32: Call
    f64: Call
    noftz: W211
    s32: Call
    u32: Call
    u64: Call

class W213:
    bf16: Call
    f16: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W214:
    add: W212
    and_: W51
    dec: W54
    inc: W54
    max: W213
    min: W213
    or_: W51
    xor: W51

class W215:
    L2__cache_hint: W214
    add: W212
    and_: W51
    dec: W54
    inc: W54
    max: W213
    min: W213
    or_: W51
    xor: W51

class W216:
    bulk_group: W215

class W217:
    shared__cta: W216

class W218:
    s32: Call
    u32: Call
    u64: Call

class W219:
    s32: Call
    u32: Call

class W220:
    add: W218
    and_: W3
    dec: W54
    inc: W54
    max: W219
    min: W219
    or_: W3
    xor: W3

class W221:
    mbarrier__complete_tx__bytes: W220

class W222:
    shared__cta: W221

class W223:
    global_: W217
    shared__cluster: W222

class W224:
    global_: W217

class W225:
    cluster: W223
    cta: W223
    gpu: W224
    sys: W224

class W226:
    add: W155
    and_: W155
    dec: W155
    inc: W155
    max: W155
    min: W155
    or_: W155
    xor: W155

class W227:
    shared__cta: W226

class W228:
    global_: W227

class W229:
    bulk_group: W170
    tile: W171

class W230:
    add: W229
    and_: W229
    dec: W229
    inc: W229
    max: W229
    min: W229
    or_: W229
    xor: W229

class W231:
    shared__cta: W230

class W232:
    global_: W231

class W233:
    add: W191
    and_: W191
    dec: W191
    inc: W191
    max: W191
    min: W191
    or_: W191
    xor: W191

class W234:
    shared__cta: W233

class W235:
    global_: W234

class W236:
    _1d: W228
    _2d: W232
    _3d: W235
    _4d: W235
    _5d: W235

class W237:
    global_: W217
    relaxed: W225
    shared__cluster: W222
    tensor: W236

class W238:
    bulk: W237

class W239:
    async_: W238

class W240:
    async_: W210
    reduce: W239

class W241:
    L2: W206

class W242:
    L2__evict_first: W206
    L2__evict_unchanged: W206
    b64: Call

class W243:
    L2__evict_first: W242
    L2__evict_last: W242
    L2__evict_normal: W242
    L2__evict_unchanged: W242

class W244:
    L2__evict_first: W242
    L2__evict_last: W242
    L2__evict_normal: W242
    L2__evict_unchanged: W242
    fabric: W243
    global_: W243

class W245:
    cvt: W241
    fractional: W243
    range: W244

class W246:
    bf16: Call

class W247:
    f16: Call

class W248:
    bf16: Call
    f16: Call
    f32: Call
    f64: Call

class W249:
    f16: Call
    f32: Call

class W250:
    f32: W249
    f64: W11

class W251:
    f32: W211
    f64: W11
    sat: W250

class W252:
    s32: Call

class W253:
    s32: W3

class W254:
    s16: W252
    s2: W253
    s4: W253
    s8: W253
    u16: W252
    u2: W253
    u4: W253
    u8: W253

class W255:
    sat: W254

class W256:
    f16: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W257:
    bf16: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W258:
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W259:
    bf16: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W260:
    f16: W11
    f32: W258

class W261:
    f16: W11
    f32: W258
    sat: W260

class W262:
    bf16: W11
    f16: W11

class W263:
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W264:
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W265:
    f16: W263
    f32: W258
    f64: W264

class W266:
    bf16: W256
    f16: W257
    f32: W258
    f64: W259
    ftz: W261
    pzo: W262
    sat: W265

class W267:
    f64: Call

class W268:
    f32: W11
    s16: W11
    s32: W11
    s64: W11
    s8: W11
    u16: W11
    u32: W11
    u64: W11
    u8: W11

class W269:
    f32: W11
    s16: W11
    s32: W11
    s64: W11
    s8: W11
    sat: W268
    u16: W11
    u32: W11
    u64: W11
    u8: W11

class W270:
    f16: Call
    f32: Call
    f64: Call

class W271:
    f16: W247
    f32: W11
    f64: W267
    s16: W270
    s32: W270
    s64: W270
    s8: W270
    u16: W270
    u32: W270
    u64: W270
    u8: W270

class W272:
    bf16: W246
    f16: W247
    f32: W11
    f64: W267
    ftz: W269
    s16: W248
    s32: W248
    s64: W248
    s8: W248
    sat: W271
    u16: W248
    u32: W248
    u64: W248
    u8: W248

class W273:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call
    s2f6x2: Call
    ue5m3x2: Call
    ue8m0x2: Call

class W274:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call
    ue5m3x2: Call

class W275:
    bf16: W11
    bf16x2: W11
    f16: W11
    f16x2: W11
    tf32: W11

class W276:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call
    s2f6x2: Call

class W277:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call

class W278:
    bf16: W11
    bf16x2: W11
    f16: W11
    f16x2: W11

class W279:
    bf16: W11
    bf16x2: W11
    f16: W11
    f16x2: W11
    pzo: W278

class W280:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    s2f6x2: Call

class W281:
    bf16x2: W280

class W282:
    bf16: W11
    bf16x2: W276
    f16: W11
    f16x2: W277
    pzo: W275
    satfinite: W279
    scaled__n2__ue8m0: W281
    tf32: W11

class W283:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call
    s2f6x2: Call
    ue5m3x2: Call

class W284:
    bf16x2: Call
    f16x2: Call
    f32: Call

class W285:
    bf16: W11
    bf16x2: W11
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284
    f16: W11
    f16x2: W11
    tf32: W11

class W286:
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284
    tf32: W11

class W287:
    bf16x2: Call
    f32: Call

class W288:
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284

class W289:
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284
    pzo: W288

class W290:
    bf16x2: W280
    s2f6x2: W287

class W291:
    bf16x2: W280
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284
    pzo: W286
    s2f6x2: W287
    scaled__n1__ue8m0: W289
    scaled__n2__ue8m0: W290
    tf32: W11

class W292:
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284
    pzo: W288
    ue5m3x2: W284

class W293:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    s2f6x2: Call
    ue5m3x2: Call

class W294:
    bf16x2: W293
    s2f6x2: W287

class W295:
    bf16: W11
    bf16x2: W283
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284
    f16: W11
    f16x2: W11
    pzo: W285
    relu: W291
    s2f6x2: W287
    scaled__n1__ue8m0: W292
    scaled__n2__ue8m0: W294
    tf32: W11
    ue5m3x2: W284

class W296:
    ue5m3x2: W284

class W297:
    bf16x2: W293

class W298:
    bf16: W256
    bf16x2: W273
    f16: W257
    f16x2: W274
    f32: W258
    f64: W259
    ftz: W261
    pzo: W275
    relu: W282
    sat: W265
    satfinite: W295
    scaled__n1__ue8m0: W296
    scaled__n2__ue8m0: W297
    tf32: W11
    ue5m3x2: W284

class W299:
    tf32: W11

class W300:
    satfinite: W299
    tf32: W11

class W301:
    ue5m3x2: W284
    ue8m0x2: W287

class W302:
    bf16: W256
    f16: W257
    f32: W258
    f64: W259
    ftz: W261
    pzo: W262
    sat: W265
    satfinite: W301
    ue5m3x2: W284
    ue8m0x2: W287

class W303:
    bf16x2: W11
    e2m1x4: W11
    e2m3x4: W11
    e3m2x4: W11
    e4m3x4: W11
    e5m2x4: W11
    f16x2: W11

class W304:
    bf16x2: W11
    f16x2: W11
    satfinite: W303

class W305:
    bf16x2: W11
    f16x2: W11
    relu: W304
    satfinite: W303

class W306:
    bf16: W11
    bf16x2: W11
    f16: W11
    f16x2: W11
    pzo: W275
    satfinite: W279
    tf32: W11

class W307:
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284
    pzo: W286
    scaled__n1__ue8m0: W289
    tf32: W11

class W308:
    bf16: W11
    bf16x2: W11
    e2m1x2: W284
    e2m3x2: W284
    e3m2x2: W284
    e4m3x2: W284
    e5m2x2: W284
    f16: W11
    f16x2: W11
    pzo: W285
    relu: W307
    scaled__n1__ue8m0: W292
    tf32: W11
    ue5m3x2: W284
    ue8m0x2: W287

class W309:
    bf16: W256
    bf16x2: W11
    f16: W257
    f16x2: W11
    f32: W258
    f64: W259
    ftz: W261
    pzo: W275
    relu: W306
    sat: W265
    satfinite: W308
    scaled__n1__ue8m0: W296
    tf32: W11
    ue5m3x2: W284
    ue8m0x2: W287

class W310:
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W311:
    s64: Call
    u32: Call
    u64: Call

class W312:
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W313:
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u32: Call
    u64: Call

class W314:
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u64: Call

class W315:
    s16: Call
    s32: Call
    s64: Call
    s8: Call

class W316:
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call

class W317:
    f16: W247
    f32: W249
    f64: W270
    s16: W310
    s32: W311
    s64: W86
    s8: W312
    u16: W313
    u32: W314
    u64: W315
    u8: W316

class W318:
    bf16: W246
    f16: W247
    f32: W211
    f64: W248
    ftz: W251
    pack: W255
    rm: W266
    rmi: W272
    rn: W298
    rna: W300
    rni: W272
    rp: W302
    rpi: W272
    rs: W305
    rz: W309
    rzi: W272
    s16: W264
    s32: W264
    s64: W264
    s8: W264
    sat: W317
    u16: W264
    u32: W264
    u64: W264
    u8: W264

class W319:
    const: W25
    global_: W25
    local: W25
    param: W25
    param__entry: W25
    shared: W25
    shared__cluster: W25
    shared__cta: W25

class W320:
    const: W25
    global_: W25
    local: W25
    param: W25
    param__entry: W25
    shared: W25
    shared__cluster: W25
    shared__cta: W25
    to: W319

class W321:
    L2: Call

class W322:
    L2: Call
    global_: W321

class W323:
    f32: Call
    f64: Call
    ftz: W11

class W324:
    approx: W100
    full: W100
    rm: W323
    rn: W323
    rp: W323
    rz: W323
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W325:
    s32: W219
    u32: W219

class W326:
    hi: W325
    lo: W325

class W327:
    bf16: Call
    bf16x2: Call
    f32: Call

class W328:
    f16: Call
    f16x2: Call
    f32: Call
    ftz: W327

class W329:
    approx: W328

class W330(Call):
    op_restrict__fetching: Call

class W331:
    bf16x2: Call
    f16x2: Call
    f32: Call
    f64: Call
    u32: Call
    u64: Call

class W332:
    bf16x2: Call
    f16x2: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W333:
    add: W331
    and_: W51
    cas: W56
    exch: W56
    max: W332
    min: W332
    or_: W51
    xor: W51

class W334:
    sys: W333

class W335:
    relaxed: W334

class W336:
    mbarrier__report__fabric: W335

class W337:
    mbarrier__complete_tx__16B: W336

class W338:
    shared__cta: W337

class W339:
    async_: W338

class W340:
    sys: W88

class W341:
    relaxed: W340

class W342:
    L2__cache_hint: W341
    relaxed: W340

class W343:
    mbarrier__report__fabric: W342

class W344:
    mbarrier__complete_tx__bytes: W343

class W345:
    shared__cta: W344

class W346:
    async_: W345

class W347:
    e4m3: W71
    e5m2: W71

class W348:
    bf16: W71
    f16: W71

class W349:
    acc__f16: W347
    acc__f32: W348
    bf16: W71
    f16: W71
    f32: W71
    u32: W71
    u64: W71

class W350:
    b32: W71
    b64: W71

class W351:
    bf16: W71
    e4m3: W71
    e5m2: W71
    f16: W71
    s32: W71
    s64: W71
    u32: W71
    u64: W71

class W352:
    add: W349
    and_: W350
    max: W351
    min: W351
    or_: W350
    xor: W350

class W353:
    sys: W352

class W354:
    relaxed: W353

class W355:
    mbarrier__report__fabric: W354

class W356:
    mbarrier__complete_tx__bytes: W355

class W357:
    shared__cta: W356

class W358:
    multimem: W357

class W359:
    async_: W358

class W360:
    L2__cache_hint: W341
    counted__bytes: W342
    cp_mask: W342
    relaxed: W340

class W361:
    mbarrier__report__fabric: W360

class W362:
    mbarrier__complete_tx__16B: W361

class W363:
    shared__cta: W362

class W364:
    multimem: W363
    shared__cta: W362

class W365:
    async_: W364

class W366:
    bf16: Call
    f16: Call
    f32: Call
    f64: Call
    u32: Call
    u64: Call

class W367:
    add: W366
    and_: W51
    max: W213
    min: W213
    or_: W51
    xor: W51

class W368:
    sys: W367

class W369:
    relaxed: W368

class W370:
    L2__cache_hint: W369
    relaxed: W368

class W371:
    L2__cache_hint: W369
    counted__bytes: W370
    relaxed: W368

class W372:
    mbarrier__report__fabric: W371

class W373:
    mbarrier__complete_tx__16B: W372

class W374:
    shared__cta: W373

class W375:
    multimem: W374
    shared__cta: W373

class W376:
    async_: W375

class W377:
    sync_restrict__reads: Call

class W378:
    submit: W330
    try_atom: W339
    try_get: W346
    try_pullred: W359
    try_put: W365
    try_red: W376
    wait: W377

class W379:
    cluster: Call
    cta: Call
    gpu: Call
    sys: Call

class W380:
    cluster: Call

class W381:
    cluster: Call
    cta: Call
    gpu: Call
    sync_restrict__shared__cluster: W380
    sys: Call

class W382:
    release: W380

class W383:
    sys: Call

class W384(Call):
    acquire: W383
    release: W383

class W385(Call):
    global_: Call
    shared__cluster: Call
    shared__cta: Call

class W386:
    sync_restrict__shared__cluster: W380

class W387:
    sync_restrict__shared__cluster__read: W380
    sync_restrict__shared__cta: W380

class W388:
    acquire: W386
    release: W387

class W389:
    acquire: W383
    release: W383

class W390:
    alias: W389

class W391:
    acquire: W379
    release: W379

class W392:
    alias: W384
    async_: W385
    async__generic: W388
    fabric__fabric: W390
    fabric__generic: W390
    generic__fabric: W390
    tensormap__generic: W391

class W393:
    cluster: Call
    cta: Call
    gpu: Call
    sync_restrict__shared__cta: W380
    sys: Call

class W394:
    acq_rel: W379
    acquire: W381
    cluster: Call
    cta: Call
    gpu: Call
    mbarrier_init: W382
    proxy: W392
    release: W393
    sc: W379
    sys: Call

class W395:
    e2m1x4: W7
    e2m3x4: W7
    e3m2x4: W7
    e4m3x4: W7
    e5m2x4: W7

class W396(Call):
    bf16x2: W19
    f16x2: W19

class W397:
    f32: W8
    f32x2: W396
    f64: Call
    ftz: W12
    sat: W13

class W398:
    f16: Call
    f16x2: Call

class W399:
    f16: Call
    f16x2: Call
    f32: Call
    f32x2: Call
    relu: W398
    sat: W1

class W400:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    relu: W58

class W401:
    e4m3x4: W395
    e5m2x4: W395

class W402:
    bf16: Call
    bf16x2: Call
    e4m3x4: W395
    e5m2x4: W395
    f16: Call
    f16x2: Call
    f32: W8
    f32x2: W396
    f64: Call
    ftz: W399
    oob: W400
    relu: W58
    sat: W16
    satfinite: W401

class W403:
    e4m3x4: W395
    e5m2x4: W395
    rm: W397
    rn: W402
    rp: W397
    rz: W397
    satfinite: W401

class W404:
    shared__cluster: W25
    u32: Call
    u64: Call

class W405:
    launch_dependents: Call
    wait: Call

class W406:
    const: Call
    global_: Call
    local: Call
    param: Call
    param__entry: Call
    shared: Call
    shared__cluster: Call
    shared__cta: Call

class W407:
    samplerref: Call
    surfref: Call
    texref: Call

class W408:
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W409:
    b32: Call
    f32: Call
    s32: Call
    u32: Call

class W410:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W411:
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W412:
    b64: Call
    f64: Call
    s64: Call
    u64: Call

class W413:
    v4: W412
    v8: W409

class W414:
    L2__128B: W413
    L2__256B: W413
    L2__64B: W413
    v4: W412
    v8: W409

class W415:
    L2__128B: W413
    L2__256B: W413
    L2__64B: W413
    L2__cache_hint: W414
    v4: W412
    v8: W409

class W416:
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    L2__evict_first: W415
    L2__evict_last: W415
    L2__evict_normal: W415
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W417:
    L1__evict_first: W416
    L1__evict_last: W416
    L1__evict_normal: W416
    L1__evict_unchanged: W416
    L1__no_allocate: W416
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    L2__evict_first: W415
    L2__evict_last: W415
    L2__evict_normal: W415
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W418:
    b16: Call
    b32: Call
    b8: Call
    f32: Call
    s16: Call
    s32: Call
    s8: Call
    u16: Call
    u32: Call
    u8: Call

class W419:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W418

class W420:
    L1__evict_first: W416
    L1__evict_last: W416
    L1__evict_normal: W416
    L1__evict_unchanged: W416
    L1__no_allocate: W416
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    L2__evict_first: W415
    L2__evict_last: W415
    L2__evict_normal: W415
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W417
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W419
    shared__cluster: W419
    shared__cta: W419
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W421:
    cluster: W420
    cta: W420
    gpu: W420
    sys: W420

class W422(Call):
    proxy__readonly: Call

class W423:
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W424:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    ca: W419
    cg: W419
    cs: W419
    cv: W419
    f32: Call
    f64: Call
    lu: W419
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W418

class W425:
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    nc: W423
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W426:
    b16: W422
    b32: W422
    b64: W422
    b8: W422
    f32: W422
    f64: W422
    s16: W422
    s32: W422
    s64: W422
    s8: W422
    u16: W422
    u32: W422
    u64: W422
    u8: W422

class W427:
    b32: W422
    f32: W422
    s32: W422
    u32: W422

class W428:
    L1__evict_first: W416
    L1__evict_last: W416
    L1__evict_normal: W416
    L1__evict_unchanged: W416
    L1__no_allocate: W416
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    L2__evict_first: W415
    L2__evict_last: W415
    L2__evict_normal: W415
    b128: Call
    b16: W422
    b32: W422
    b64: W422
    b8: W422
    ca: W425
    cg: W425
    cs: W425
    cv: W423
    f32: W422
    f64: W422
    lu: W423
    nc: W417
    s16: W422
    s32: W422
    s64: W422
    s8: W422
    u16: W422
    u32: W422
    u64: W422
    u8: W422
    v2: W426
    v4: W426
    v8: W427

class W429:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W430:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W429
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W431:
    sys: W430

class W432:
    acquire: W431
    relaxed: W431

class W433:
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W411
    local: W419
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W419
    shared__cluster: W419
    shared__cta: W419
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W434:
    L1__evict_first: W416
    L1__evict_last: W416
    L1__evict_normal: W416
    L1__evict_unchanged: W416
    L1__no_allocate: W416
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    L2__evict_first: W415
    L2__evict_last: W415
    L2__evict_normal: W415
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    ca: W423
    cg: W423
    cs: W423
    cv: W423
    f32: Call
    f64: Call
    lu: W423
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W435:
    L1__evict_first: W416
    L1__evict_last: W416
    L1__evict_normal: W416
    L1__evict_unchanged: W416
    L1__no_allocate: W416
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    L2__evict_first: W415
    L2__evict_last: W415
    L2__evict_normal: W415
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    ca: W423
    cg: W423
    const: W424
    cs: W423
    cv: W423
    f32: Call
    f64: Call
    global_: W434
    local: W424
    lu: W423
    param: W424
    param__entry: W424
    param__func: W424
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W424
    shared__cluster: W424
    shared__cta: W424
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W436:
    L1__evict_first: W416
    L1__evict_last: W416
    L1__evict_normal: W416
    L1__evict_unchanged: W416
    L1__no_allocate: W416
    L2__128B: W410
    L2__256B: W410
    L2__64B: W410
    L2__cache_hint: W411
    L2__evict_first: W415
    L2__evict_last: W415
    L2__evict_normal: W415
    acquire: W421
    b128: Call
    b16: W422
    b32: W422
    b64: W422
    b8: W422
    ca: W423
    cg: W423
    const: W424
    cs: W423
    cv: W423
    f32: W422
    f64: W422
    global_: W428
    local: W424
    lu: W423
    mmio: W432
    param: W424
    param__entry: W424
    param__func: W424
    relaxed: W421
    s16: W422
    s32: W422
    s64: W422
    s8: W422
    shared: W424
    shared__cluster: W424
    shared__cta: W424
    u16: W422
    u32: W422
    u64: W422
    u8: W422
    v2: W426
    v4: W426
    v8: W427
    volatile: W433
    weak: W435

class W437:
    b4x16_p64: Call
    b6x16_p32: Call

class W438:
    b8: Call
    b8x16: W437

class W439:
    b8: Call
    b8x16: W437
    shared: W438
    shared__cta: W438

class W440:
    trans: W439

class W441:
    x1: W440
    x2: W440

class W442:
    s4: Call

class W443:
    b8x16: W437
    s8: W442

class W444:
    b8x16: W437
    s8: W442
    shared: W443
    shared__cta: W443

class W445:
    x1: W444
    x2: W444
    x4: W444

class W446:
    b16: Call

class W447:
    b16: Call
    shared: W446
    shared__cta: W446

class W448:
    b16: Call
    shared: W446
    shared__cta: W446
    trans: W447

class W449:
    x1: W448
    x2: W448
    x4: W448

class W450:
    m16n16: W441
    m8n16: W445
    m8n8: W449

class W451:
    aligned: W450

class W452:
    sync: W451

class W453:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W419
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W418

class W454:
    and_: W3
    b32: Call
    or_: W3

class W455:
    cc: W6
    s16: Call
    s32: Call
    s64: Call
    sat: W252
    u16: Call
    u32: Call
    u64: Call

class W456:
    cc: W6
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W457:
    f32: Call
    sat: W11

class W458:
    f32: Call
    f64: Call
    ftz: W457
    sat: W11

class W459:
    s16: Call
    s32: Call
    u16: Call
    u32: Call

class W460:
    hi: W455
    lo: W456
    rm: W458
    rn: W458
    rp: W458
    rz: W458
    wide: W459

class W461:
    s32: Call
    sat: W252
    u32: Call

class W462:
    hi: W461
    lo: W219

class W463:
    hi: W24
    lo: W24

class W464:
    sync: W51

class W465:
    all: W464
    any: W464

class W466:
    abs: W46

class W467:
    abs: W11
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    xorsign: W466

class W468:
    abs: W1

class W469:
    abs: W11
    f16: Call
    f16x2: Call
    f32: Call
    xorsign: W468

class W470:
    NaN: W469
    abs: W11
    f16: Call
    f16x2: Call
    f32: Call
    xorsign: W468

class W471:
    s16x2: Call
    s32: Call
    s8x4: Call

class W472(Call):
    relu: Call

class W473:
    NaN: W467
    abs: W11
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W470
    relu: W471
    s16: Call
    s16x2: W472
    s32: W472
    s64: Call
    s8x4: Call
    u16: Call
    u16x2: Call
    u32: Call
    u64: Call
    u8x4: Call
    xorsign: W466

class W474:
    b64: Call
    multicast__cluster__32b: W206

class W475:
    b64: Call
    multicast__cluster__32b: W206
    shared: W206
    shared__cluster: W474
    shared__cta: W206

class W476:
    cluster: W475
    cta: W475

class W477:
    b64: Call
    multicast__cluster__32b: W206
    relaxed: W476
    release: W476
    shared: W206
    shared__cluster: W474
    shared__cta: W206

class W478:
    cta: W207

class W479:
    b64: Call
    release: W478
    shared: W206
    shared__cta: W206

class W480:
    b64: Call
    expect_tx: W477
    multicast__cluster__32b: W206
    noComplete: W479
    relaxed: W476
    release: W476
    shared: W206
    shared__cluster: W474
    shared__cta: W206

class W481:
    layout__v0: W207
    layout__v1: W207

class W482:
    b64: Call
    multicast__cluster__32b: W206
    relaxed: W476
    shared: W206
    shared__cluster: W474
    shared__cta: W206

class W483:
    b64: Call
    layout__v0: W207
    layout__v1: W207
    shared: W206
    shared__cta: W206

class W484:
    b64: Call
    layout__v0: W206

class W485:
    cluster: W207
    cta: W207

class W486:
    acquire: W485
    b64: Call
    relaxed: W485
    shared: W206
    shared__cta: W206

class W487:
    acquire: W485
    b64: Call
    phase_type__conditional: W486
    phase_type__primary: W486
    relaxed: W485
    shared: W206
    shared__cta: W206

class W488:
    acquire: W485
    b64: Call
    parity: W487
    phase_type__primary: W486
    relaxed: W485
    shared: W206
    shared__cta: W206

class W489:
    arrive: W480
    arrive_drop: W480
    check_layout: W481
    complete_tx: W482
    expect_tx: W482
    init: W483
    inval: W207
    pending_count: W484
    test_wait: W488
    try_wait: W488

class W490:
    alias: Call
    async_: Call

class W491:
    cta: Call
    gl: Call
    proxy: W490
    sys: Call

class W492:
    s4: W252
    u4: W252

class W493:
    s4: W492
    u4: W492

class W494:
    s32: W493

class W495:
    s32: W493
    satfinite: W494

class W496:
    col: W495

class W497:
    row: W496

class W498:
    f16: W247

class W499:
    f16: W498

class W500:
    bf16: W11

class W501:
    f16: W11

class W502:
    bf16: W500
    f16: W501
    tf32: W299

class W503:
    f16: W499
    f32: W502

class W504:
    col: W503

class W505:
    row: W504

class W506:
    bf16: W500
    f16: W501

class W507:
    s8: W252
    u8: W252

class W508:
    s8: W507
    u8: W507

class W509:
    s32: W508

class W510:
    f16: W499
    f32: W506
    s32: W508
    satfinite: W509

class W511:
    col: W510

class W512:
    row: W511

class W513:
    e4m3: W11
    e5m2: W11

class W514:
    e4m3: W513
    e5m2: W513

class W515:
    s4: W492
    s8: W507
    u4: W492
    u8: W507

class W516:
    s32: W515

class W517:
    f32: W514
    s32: W515
    satfinite: W516

class W518:
    col: W517

class W519:
    row: W518

class W520:
    tf32: W299

class W521:
    f32: W520

class W522:
    col: W521

class W523:
    row: W522

class W524:
    m16n8k128: W497
    m16n8k16: W505
    m16n8k32: W512
    m16n8k64: W519
    m16n8k8: W523

class W525:
    aligned: W524

class W526:
    sync: W525

class W527:
    e2m1: W247
    e2m3: W247
    e3m2: W247
    e4m3: W247
    e5m2: W247

class W528:
    e2m1: W527
    e2m3: W527
    e3m2: W527
    e4m3: W527
    e5m2: W527

class W529:
    e2m1: W11
    e2m3: W11
    e3m2: W11
    e4m3: W11
    e5m2: W11

class W530:
    e2m1: W529
    e2m3: W529
    e3m2: W529
    e4m3: W529
    e5m2: W529

class W531:
    f16: W528
    f32: W530

class W532:
    col: W531

class W533:
    row: W532

class W534:
    m16n8k64: W533

class W535:
    ue8m0: Call

class W536:
    f32: W535

class W537:
    e2m1: W536

class W538:
    e2m1: W537

class W539:
    f32: W538

class W540:
    col: W539

class W541:
    row: W540

class W542:
    m16n8k128: W541

class W543:
    m16n8k128: W541
    scale_vec__2X: W542

class W544:
    block_scale: W543

class W545:
    ue4m3: Call
    ue8m0: Call

class W546:
    f32: W545

class W547:
    e2m1: W546

class W548:
    e2m1: W547

class W549:
    f32: W548

class W550:
    col: W549

class W551:
    row: W550

class W552:
    m16n8k128: W551

class W553:
    scale_vec__2X: W542
    scale_vec__4X: W552

class W554:
    block_scale: W553

class W555:
    e2m1: W536
    e2m3: W536
    e3m2: W536
    e4m3: W536
    e5m2: W536

class W556:
    e2m1: W555
    e2m3: W555
    e3m2: W555
    e4m3: W555
    e5m2: W555

class W557:
    f32: W556

class W558:
    col: W557

class W559:
    row: W558

class W560:
    m16n8k64: W559

class W561:
    m16n8k64: W559
    scale_vec__1X: W560

class W562:
    block_scale: W561

class W563:
    f32: W538
    scale_vec__2X: W539

class W564:
    block_scale: W563

class W565:
    scale_vec__2X: W539
    scale_vec__4X: W549

class W566:
    block_scale: W565

class W567:
    kind__mxf4: W564
    kind__mxf4nvf4: W566
    s32: W493
    satfinite: W494

class W568:
    col: W567

class W569:
    row: W568

class W570:
    e4m3: W247
    e5m2: W247

class W571:
    e4m3: W570
    e5m2: W570

class W572:
    f32: W556
    scale_vec__1X: W557

class W573:
    block_scale: W572

class W574:
    f16: W571
    f32: W514
    kind__f8f6f4: W531
    kind__mxf8f6f4: W573
    s32: W515
    satfinite: W516

class W575:
    col: W574

class W576:
    row: W575

class W577:
    kind__f8f6f4: W534
    kind__mxf4: W544
    kind__mxf4nvf4: W554
    kind__mxf8f6f4: W562
    m16n8k128: W569
    m16n8k16: W505
    m16n8k32: W512
    m16n8k64: W576
    m16n8k8: W523

class W578:
    aligned: W577

class W579:
    sync: W578

class W580:
    m16n8k32: W533

class W581:
    m16n8k64: W541

class W582:
    m16n8k64: W541
    scale_vec__2X: W581

class W583:
    block_scale: W582

class W584:
    m16n8k64: W551

class W585:
    scale_vec__2X: W581
    scale_vec__4X: W584

class W586:
    block_scale: W585

class W587:
    m16n8k32: W559

class W588:
    m16n8k32: W559
    scale_vec__1X: W587

class W589:
    block_scale: W588

class W590:
    popc: Call

class W591:
    and_: W590
    xor: W590

class W592:
    s32: W591

class W593:
    b1: W592

class W594:
    b1: W593

class W595:
    s32: W594

class W596:
    col: W595

class W597:
    row: W596

class W598:
    e4m3: W570
    e5m2: W570
    f16: W498

class W599:
    bf16: W500
    e4m3: W513
    e5m2: W513
    f16: W501

class W600:
    f64: W267

class W601:
    f64: W600

class W602:
    f16: W598
    f32: W599
    f64: W601
    s32: W508
    satfinite: W509

class W603:
    col: W602

class W604:
    row: W603

class W605:
    f32: W520
    f64: W601

class W606:
    col: W605

class W607:
    row: W606

class W608:
    f16: W499
    f32: W502
    f64: W601

class W609:
    col: W608

class W610:
    row: W609

class W611:
    s32: W508
    satfinite: W509

class W612:
    col: W611

class W613:
    row: W612

class W614:
    f16: W249

class W615:
    f16: W614

class W616:
    f16: W499
    f32: W615

class W617:
    col: W616
    row: W616

class W618:
    f16: W499
    f32: W615
    f64: W601

class W619:
    col: W618
    row: W616

class W620:
    col: W617
    row: W619

class W621:
    kind__f8f6f4: W580
    kind__mxf4: W583
    kind__mxf4nvf4: W586
    kind__mxf8f6f4: W589
    m16n8k128: W597
    m16n8k16: W604
    m16n8k256: W597
    m16n8k32: W576
    m16n8k4: W607
    m16n8k64: W569
    m16n8k8: W610
    m8n8k128: W597
    m8n8k16: W613
    m8n8k32: W497
    m8n8k4: W620

class W622:
    aligned: W621

class W623:
    sp: W526
    sp__ordered_metadata: W579
    sync: W622

class W624:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    f32: Call
    f64: Call
    pred: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W625:
    trans: W446

class W626:
    m8n8: W625

class W627:
    aligned: W626

class W628:
    sync: W627

class W629:
    f16x2: Call

class W630(Call):
    bf16x2: W629

class W631:
    e2m1x4: Call
    e2m3x4: Call
    e3m2x4: Call
    e4m3x4: Call
    e5m2x4: Call

class W632:
    e2m1x4: W631
    e2m3x4: W631
    e3m2x4: W631
    e4m3x4: W631
    e5m2x4: W631

class W633:
    bf16x2: Call

class W634(Call):
    f16x2: W633

class W635:
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W636:
    f32: Call
    f32x2: Call
    f64: Call
    ftz: W12
    sat: W11

class W637:
    e4m3x4: W632
    e5m2x4: W632

class W638:
    bf16: Call
    bf16x2: Call
    e4m3x4: W632
    e5m2x4: W632
    f16: Call
    f16x2: Call
    f32: Call
    f32x2: Call
    f64: Call
    ftz: W15
    sat: W1
    satfinite: W637

class W639:
    bf16x2: W19
    f32: Call
    f32x2: Call
    f64: Call
    ftz: W20
    sat: W11

class W640:
    bf16: Call
    bf16x2: W630
    e4m3x4: W632
    e5m2x4: W632
    f16: Call
    f16x2: W634
    f32: Call
    f32x2: Call
    f64: Call
    ftz: W15
    hi: W635
    lo: W635
    rm: W636
    rn: W638
    rp: W636
    rz: W639
    sat: W1
    satfinite: W637
    wide: W459

class W641:
    hi: W219
    lo: W219

class W642:
    bulk_group: W102

class W643:
    shared__cta: W642

class W644:
    bulk_group: W123

class W645:
    shared__cta: W644

class W646:
    global_: W645

class W647:
    cluster: W646
    cta: W646
    gpu: W646
    sys: W646

class W648:
    global_: W643

class W649:
    global_: W643
    relaxed: W647
    weak: W648

class W650:
    bulk: W649

class W651:
    bulk_group: W214

class W652:
    shared__cta: W651

class W653:
    global_: W652

class W654:
    cluster: W653
    cta: W653
    gpu: W653
    sys: W653

class W655:
    global_: W652
    relaxed: W654

class W656:
    bulk: W655

class W657:
    async_: W656

class W658:
    async_: W650
    reduce: W657

class W659:
    e4m3x2: Call
    e4m3x4: Call
    e5m2x2: Call
    e5m2x4: Call

class W660:
    e4m3: Call
    e4m3x2: Call
    e4m3x4: Call
    e5m2: Call
    e5m2x2: Call
    e5m2x4: Call

class W661:
    e4m3: Call
    e4m3x2: Call
    e5m2: Call
    e5m2x2: Call

class W662:
    e4m3x4: Call
    e5m2x4: Call
    v2: W659
    v4: W660
    v8: W661

class W663:
    bf16x2: Call
    f16x2: Call
    v2: W58
    v4: W58
    v8: W47

class W664:
    bf16: Call
    bf16x2: Call
    e4m3x2: Call
    e4m3x4: Call
    e5m2x2: Call
    e5m2x4: Call
    f16: Call
    f16x2: Call
    f32: Call

class W665:
    bf16: Call
    bf16x2: Call
    e4m3: Call
    e4m3x2: Call
    e4m3x4: Call
    e5m2: Call
    e5m2x2: Call
    e5m2x4: Call
    f16: Call
    f16x2: Call
    f32: Call

class W666:
    bf16: Call
    e4m3: Call
    e4m3x2: Call
    e5m2: Call
    e5m2x2: Call
    f16: Call

class W667:
    acc__f16: W662
    acc__f32: W663
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    f32: Call
    f64: Call
    s32: Call
    u32: Call
    u64: Call
    v2: W664
    v4: W665
    v8: W666

class W668:
    bf16: Call
    bf16x2: Call
    e4m3x2: Call
    e4m3x4: Call
    e5m2x2: Call
    e5m2x4: Call
    f16: Call
    f16x2: Call

class W669:
    bf16: Call
    bf16x2: Call
    e4m3: Call
    e4m3x2: Call
    e4m3x4: Call
    e5m2: Call
    e5m2x2: Call
    e5m2x4: Call
    f16: Call
    f16x2: Call

class W670:
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W668
    v4: W669
    v8: W666

class W671:
    add: W667
    and_: W51
    max: W670
    min: W670
    or_: W51
    xor: W51

class W672:
    add: W667
    and_: W51
    global_: W671
    max: W670
    min: W670
    or_: W51
    xor: W51

class W673:
    cluster: W672
    cta: W672
    gpu: W672
    sys: W672

class W674:
    acquire: W673
    add: W667
    and_: W51
    global_: W671
    max: W670
    min: W670
    or_: W51
    relaxed: W673
    weak: W672
    xor: W51

class W675:
    bf16x2: Call
    f16x2: Call
    f32: Call
    f64: Call
    s32: Call
    u32: Call
    u64: Call
    v2: W46
    v4: W46
    v8: W47

class W676:
    add: W218

class W677:
    add: W218
    global_: W676

class W678:
    gpu: W677
    sys: W677

class W679:
    release: W678

class W680:
    add: W675
    and_: W51
    max: W6
    min: W6
    or_: W51
    xor: W51

class W681:
    add: W675
    and_: W51
    global_: W680
    max: W6
    min: W6
    or_: W51
    xor: W51

class W682:
    cluster: W681
    cta: W681
    gpu: W681
    sys: W681

class W683:
    add: W675
    and_: W51
    async_: W679
    global_: W680
    max: W6
    min: W6
    or_: W51
    relaxed: W682
    release: W682
    xor: W51

class W684:
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W408
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W685:
    gpu: W684
    sys: W684

class W686:
    release: W685

class W687:
    b32: Call
    b64: Call
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    f32: Call
    f64: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W664
    v4: W665
    v8: W666

class W688:
    b32: Call
    b64: Call
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    f32: Call
    f64: Call
    global_: W687
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W664
    v4: W665
    v8: W666

class W689:
    cluster: W688
    cta: W688
    gpu: W688
    sys: W688

class W690:
    async_: W686
    b32: Call
    b64: Call
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    f32: Call
    f64: Call
    global_: W687
    relaxed: W689
    release: W689
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W664
    v4: W665
    v8: W666
    weak: W688

class W691:
    cp: W658
    ld_reduce: W674
    red: W683
    st: W690

class W692:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    s16: Call
    s32: Call
    s64: Call
    s8x4: Call

class W693(Call):
    mask: Call

class W694:
    valid_addr: Call

class W695:
    tensormap: Call

class W696:
    L1: Call
    L2: Call
    L2__evict_last: Call
    L2__evict_normal: Call

class W697:
    L1: Call
    L2: Call

class W698:
    L1: Call
    L1__32B: W694
    L2: Call
    const: W695
    global_: W696
    local: W697
    param: W695
    tensormap: Call

class W699:
    L1: Call

class W700(Call):
    b4e: Call
    ecl: Call
    ecr: Call
    f4e: Call
    rc16: Call
    rc8: Call

class W701:
    b32: W700

class W702:
    f32: Call
    ftz: W99

class W703:
    approx: W702
    rm: W323
    rn: W323
    rp: W323
    rz: W323

class W704:
    add: W6

class W705:
    add: W6
    global_: W704

class W706:
    sys: W705

class W707:
    release: W706

class W708:
    mbarrier__complete_tx__bytes: W220
    shared__cluster: W221

class W709:
    cluster: W708

class W710:
    gpu: W705
    sys: W705

class W711:
    mmio: W707
    relaxed: W709
    release: W710

class W712:
    add: W50
    and_: W52
    dec: W55
    inc: W55
    max: W61
    min: W61
    or_: W52
    xor: W52

class W713:
    add: W63
    and_: W51
    dec: W54
    inc: W54
    max: W6
    min: W6
    or_: W51
    xor: W51

class W714:
    add: W50
    and_: W52
    dec: W55
    global_: W712
    inc: W55
    max: W61
    min: W61
    or_: W52
    shared: W713
    shared__cluster: W713
    shared__cta: W713
    xor: W52

class W715:
    add: W50
    and_: W52
    cluster: W714
    cta: W714
    dec: W55
    global_: W712
    gpu: W714
    inc: W55
    max: W61
    min: W61
    or_: W52
    shared: W713
    shared__cluster: W713
    shared__cta: W713
    sys: W714
    xor: W52

class W716:
    add: W50
    and_: W52
    async_: W711
    cluster: W714
    cta: W714
    dec: W55
    global_: W712
    gpu: W714
    inc: W55
    max: W61
    min: W61
    or_: W52
    relaxed: W715
    release: W715
    shared: W713
    shared__cluster: W713
    shared__cta: W713
    sys: W714
    xor: W52

class W717:
    NaN: W11
    f32: Call

class W718:
    NaN: W11
    abs: W717
    f32: Call
    s32: Call
    u32: Call

class W719:
    add: W219
    and_: W3
    max: W718
    min: W718
    or_: W3
    xor: W3

class W720:
    sync: W719

class W721:
    f32: Call
    f64: Call
    ftz: W99

class W722:
    approx: W721

class W723:
    b16: Call
    b32: Call
    b64: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W724:
    b16: Call
    b32: Call
    b64: Call
    bf16: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W725:
    b16: Call
    b32: Call
    b64: Call
    f16: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W726:
    f16: W249
    f16x2: W629
    f32: W11
    s16: W247
    s32: W1
    u16: W247
    u32: W1

class W727:
    b16: Call
    b32: Call
    b64: Call
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W728:
    bf16: W724
    bf16x2: W633
    f16: W725
    f16x2: W629
    f32: W723
    ftz: W726
    s16: W47
    s32: W727
    u16: W47
    u32: W727

class W729:
    and_: W728
    bf16: W724
    bf16x2: W633
    f16: W725
    f16x2: W629
    f32: W723
    ftz: W726
    or_: W728
    s16: W47
    s16x2: Call
    s32: W727
    s8x4: Call
    u16: W47
    u16x2: Call
    u32: W727
    u8x4: Call
    xor: W728

class W730:
    bf16: Call
    f32: Call
    f64: Call

class W731:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call

class W732:
    bf16: W730
    bf16x2: W633
    f16: W270
    f16x2: W629
    f32: W99
    ftz: W726
    s16: W47
    s32: W731
    u16: W47
    u32: W731

class W733:
    and_: W732
    bf16: W730
    bf16x2: W633
    f16: W270
    f16x2: W629
    f32: W99
    ftz: W726
    or_: W732
    s16: W47
    s32: W731
    u16: W47
    u32: W731
    xor: W732

class W734:
    bf16: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W735:
    f16: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W736:
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W737:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W738:
    bf16: W734
    bf16x2: W633
    f16: W735
    f16x2: W629
    f32: W736
    ftz: W726
    s16: W47
    s32: W737
    u16: W47
    u32: W737

class W739:
    and_: W738
    bf16: W734
    bf16x2: W633
    f16: W735
    f16x2: W629
    f32: W736
    ftz: W726
    or_: W738
    s16: W47
    s16x2: Call
    s32: W737
    s8x4: Call
    u16: W47
    u16x2: Call
    u32: W737
    u8x4: Call
    xor: W738

class W740:
    u16: Call
    u32: Call
    u64: Call

class W741:
    bf16: W740
    f16: W740
    f32: W740
    s32: W740
    u32: W740

class W742:
    and_: W741
    bf16: W740
    f16: W740
    f32: W740
    or_: W741
    s32: W740
    u16x2: Call
    u32: W740
    u8x4: Call
    xor: W741

class W743:
    eq: W729
    equ: W733
    ge: W739
    geu: W733
    gt: W739
    gtu: W733
    hi: W742
    hs: W742
    le: W739
    leu: W733
    lo: W742
    ls: W742
    lt: W739
    ltu: W733
    nan: W733
    ne: W729
    neu: W733
    num: W733

class W744:
    aligned: W54

class W745:
    sync: W744

class W746:
    dec: W745
    inc: W745

class W747:
    b16: Call
    b32: Call
    b64: Call
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W748:
    and_: W747
    b16: Call
    b32: Call
    b64: Call
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    or_: W747
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call
    xor: W747

class W749:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1

class W750:
    and_: W749
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    or_: W749
    xor: W749

class W751:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W752:
    and_: W751
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    or_: W751
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call
    xor: W751

class W753:
    and_: W740
    or_: W740
    u16: Call
    u32: Call
    u64: Call
    xor: W740

class W754:
    eq: W748
    equ: W750
    ge: W752
    geu: W750
    gt: W752
    gtu: W750
    hi: W753
    hs: W753
    le: W752
    leu: W750
    lo: W753
    ls: W753
    lt: W752
    ltu: W750
    nan: W750
    ne: W748
    neu: W750
    num: W750

class W755:
    l: W83
    r: W83

class W756:
    bfly: W3
    down: W3
    idx: W3
    up: W3

class W757:
    bfly: W3
    down: W3
    idx: W3
    sync: W756
    up: W3

class W758:
    b16: Call
    b32: Call
    b64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W759:
    f32: Call
    s32: Call

class W760:
    b16: W11
    b32: W11
    b64: W11
    f32: W11
    f64: W11
    s16: W11
    s32: W11
    s64: W11
    u16: W11
    u32: W11
    u64: W11

class W761:
    b16: W759
    b32: W759
    b64: W759
    f32: W759
    f64: W759
    ftz: W760
    s16: W759
    s32: W759
    s64: W759
    u16: W759
    u32: W759
    u64: W759

class W762:
    x1: Call
    x16: Call
    x2: Call
    x32: Call
    x4: Call
    x64: Call
    x8: Call

class W763:
    sp__2_4: W762

class W764:
    b2: W763
    b4: W763

class W765:
    b16: W764
    b8: W764

class W766:
    sp__1_2: W762
    sp__1_4: W762
    sp__2_4: W762

class W767:
    x1: Call
    x16: Call
    x2: Call
    x4: Call
    x8: Call

class W768:
    x1: Call
    x16: Call
    x2: Call
    x32: Call
    x4: Call
    x8: Call

class W769:
    sp__1_16: W767
    sp__1_2: W762
    sp__1_4: W762
    sp__1_8: W768
    sp__2_16: W767
    sp__2_4: W762
    sp__2_8: W768

class W770:
    b2: W766
    b4: W769

class W771:
    x16: Call
    x2: Call
    x32: Call
    x4: Call
    x64: Call
    x8: Call

class W772:
    sp__1_2: W771
    sp__1_4: W762
    sp__2_4: W762

class W773:
    sp__1_16: W768
    sp__1_2: W771
    sp__1_4: W762
    sp__1_8: W762
    sp__2_16: W768
    sp__2_4: W762
    sp__2_8: W762
    sp__4_16: W768
    sp__4_8: W762

class W774:
    b2: W772
    b4: W773

class W775:
    b16: W770
    b8: W774

class W776:
    approx: W100
    rm: W323
    rn: W323
    rp: W323
    rz: W323

class W777:
    L2__cache_hint: W413
    v4: W412
    v8: W409

class W778:
    L2__cache_hint: W410
    L2__evict_first: W777
    L2__evict_last: W777
    L2__evict_normal: W777
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W779:
    b32: Call
    b64: Call
    f32: Call
    f64: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W780:
    b128: Call
    b32: Call
    b64: Call
    f32: Call
    f64: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W779
    v4: W409

class W781:
    mbarrier__complete_tx__bytes: W780

class W782:
    mbarrier__complete_tx__bytes: W780
    shared__cluster: W781

class W783:
    sys: W684

class W784:
    release: W783

class W785:
    cluster: W782
    mbarrier__complete_tx__bytes: W780
    mmio: W784
    release: W685
    shared__cluster: W781
    weak: W782

class W786(Call):
    shared__cta: Call

class W787(Call):
    shared__cta: Call
    weak: W786

class W788:
    L2__cache_hint: W410
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W789:
    L1__evict_first: W778
    L1__evict_last: W778
    L1__evict_normal: W778
    L1__evict_unchanged: W778
    L1__no_allocate: W778
    L2__cache_hint: W410
    L2__evict_first: W777
    L2__evict_last: W777
    L2__evict_normal: W777
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    cg: W788
    cs: W788
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409
    wb: W788
    wt: W788

class W790:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    cg: W419
    cs: W419
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W418
    wb: W419
    wt: W419

class W791:
    relaxed: W431
    release: W431

class W792:
    L1__evict_first: W778
    L1__evict_last: W778
    L1__evict_normal: W778
    L1__evict_unchanged: W778
    L1__no_allocate: W778
    L2__cache_hint: W410
    L2__evict_first: W777
    L2__evict_last: W777
    L2__evict_normal: W777
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W793:
    L1__evict_first: W778
    L1__evict_last: W778
    L1__evict_normal: W778
    L1__evict_unchanged: W778
    L1__no_allocate: W778
    L2__cache_hint: W410
    L2__evict_first: W777
    L2__evict_last: W777
    L2__evict_normal: W777
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W792
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W419
    shared__cluster: W419
    shared__cta: W419
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W794:
    cluster: W793
    cta: W793
    gpu: W793
    sys: W793

class W795:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W410
    local: W419
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W419
    shared__cluster: W419
    shared__cta: W419
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409

class W796:
    L1__evict_first: W778
    L1__evict_last: W778
    L1__evict_normal: W778
    L1__evict_unchanged: W778
    L1__no_allocate: W778
    L2__cache_hint: W410
    L2__evict_first: W777
    L2__evict_last: W777
    L2__evict_normal: W777
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    cg: W788
    cs: W788
    f32: Call
    f64: Call
    global_: W789
    local: W790
    param: W790
    param__func: W790
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W790
    shared__cluster: W790
    shared__cta: W790
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409
    wb: W788
    wt: W788

class W797:
    L1__evict_first: W778
    L1__evict_last: W778
    L1__evict_normal: W778
    L1__evict_unchanged: W778
    L1__no_allocate: W778
    L2__cache_hint: W410
    L2__evict_first: W777
    L2__evict_last: W777
    L2__evict_normal: W777
    async_: W785
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    bulk: W787
    cg: W788
    cs: W788
    f32: Call
    f64: Call
    global_: W789
    local: W790
    mmio: W791
    param: W790
    param__func: W790
    relaxed: W794
    release: W794
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W790
    shared__cluster: W790
    shared__cta: W790
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W408
    v4: W408
    v8: W409
    volatile: W795
    wb: W788
    weak: W796
    wt: W788

class W798:
    b8: Call

class W799:
    b8: Call
    shared: W798
    shared__cta: W798

class W800:
    trans: W799

class W801:
    x1: W800
    x2: W800
    x4: W800

class W802:
    m16n8: W801
    m8n8: W449

class W803:
    aligned: W802

class W804:
    sync: W803

class W805:
    f16: Call
    f16x2: Call
    f32: W8
    s32: Call
    s8x4: Call
    u8x4: Call

class W806:
    bf16: Call
    bf16x2: W5
    cc: W6
    e4m3x4: W7
    e5m2x4: W7
    f16: Call
    f16x2: Call
    f32: W8
    f32x2: W9
    f64: Call
    ftz: W10
    rm: W14
    rn: W18
    rp: W14
    rz: W21
    s16: Call
    s32: Call
    s64: Call
    s8x4: Call
    sat: W805
    satfinite: W17
    u16: Call
    u32: Call
    u64: Call
    u8x4: Call

class W807:
    clamp: Call
    trap: Call
    zero: Call

class W808:
    b16: W807
    b32: W807
    b64: W807
    b8: W807

class W809:
    b16: W807
    b32: W807
    b8: W807

class W810:
    b16: W807
    b32: W807
    b64: W807
    b8: W807
    v2: W808
    v4: W809

class W811:
    b16: W807
    b32: W807
    b64: W807
    b8: W807
    ca: W810
    cg: W810
    cs: W810
    cv: W810
    v2: W808
    v4: W809

class W812:
    _1d: W811
    _2d: W811
    _3d: W811
    a1d: W811
    a2d: W811

class W813:
    b: W812

class W814:
    array_size: W3
    channel_data_type: W3
    channel_order: W3
    depth: W3
    height: W3
    memory_layout: W3
    width: W3

class W815:
    s32: W807
    u32: W807
    u64: W807

class W816:
    _1d: W815
    _2d: W815
    _3d: W815

class W817:
    b32: W807

class W818:
    _1d: W817
    _2d: W817
    _3d: W817

class W819:
    s32: W807
    s64: W807
    u32: W807
    u64: W807

class W820:
    _1d: W819
    _2d: W819
    _3d: W819

class W821:
    add: W816
    and_: W818
    max: W820
    min: W820
    or_: W818

class W822:
    b32: W807
    b64: W807

class W823:
    _1d: W822
    _2d: W822
    _3d: W822

class W824:
    add: W818
    and_: W818
    max: W823
    min: W823
    or_: W818

class W825:
    b: W821
    p: W824

class W826:
    b16: W807
    b32: W807
    b64: W807
    b8: W807
    cg: W810
    cs: W810
    v2: W808
    v4: W809
    wb: W810
    wt: W810

class W827:
    _1d: W826
    _2d: W826
    _3d: W826
    a1d: W826
    a2d: W826

class W828:
    b32: W807
    v2: W817
    v4: W817

class W829:
    _1d: W828
    _2d: W828
    _3d: W828

class W830:
    b: W827
    p: W829

class W831:
    clamp: W219
    wrap: W219

class W832:
    approx: W46

class W833:
    b32: Call
    shared__cta: W3

class W834:
    aligned: W833

class W835:
    sync: W834

class W836:
    cta_group__1: W835
    cta_group__2: W835

class W837:
    cta_group__1: W835
    cta_group__2: W835
    exclusive: W836

class W838:
    b64: Call
    multicast__cluster: W206
    multicast__cluster__16b: W206
    multicast__cluster__32b: W206

class W839:
    b64: Call
    multicast__cluster: W206
    multicast__cluster__16b: W206
    multicast__cluster__32b: W206
    shared__cluster: W838

class W840:
    b64: Call
    multicast__cluster: W206
    multicast__cluster__16b: W206
    multicast__cluster__32b: W206
    shared__cluster: W838
    sync_restrict__shared__read__mma__a: W839

class W841:
    mbarrier__arrive__one: W840

class W842:
    cta_group__1: W841
    cta_group__2: W841

class W843(Call):
    b8x16: W437

class W844:
    warpx4: W843

class W845:
    warpx2__01_23: W843
    warpx2__02_13: W843

class W846:
    _128x128b: W843
    _128x256b: W843
    _32x128b: W844
    _4x256b: W843
    _64x128b: W845

class W847:
    cta_group__1: W846
    cta_group__2: W846

class W848:
    aligned: W3

class W849:
    sync: W848

class W850:
    cta_group__1: W849
    cta_group__2: W849

class W851:
    cta_group__1: W849
    cta_group__2: W849
    exclusive: W850

class W852:
    b2: Call

class W853:
    f32: W852

class W854:
    NaN: W853
    f32: W852

class W855:
    NaN: W853
    abs: W854
    f32: W852

class W856:
    sp__2_4: W855

class W857:
    max: W856
    min: W856

class W858:
    x128: W857
    x16: W857
    x32: W857
    x4: W857
    x64: W857
    x8: W857

class W859:
    _32x32b: W858

class W860:
    aligned: W859

class W861:
    sync: W860

class W862:
    max: W718
    min: W718

class W863:
    x128: W862
    x16: W862
    x2: W862
    x32: W862
    x4: W862
    x64: W862
    x8: W862

class W864:
    _16x32bx2: W863
    _32x32b: W863

class W865:
    aligned: W864

class W866:
    spcompress: W861
    sync: W865

class W867:
    abs: W853
    f32: W852

class W868:
    sp__2_4: W867

class W869:
    max: W868
    min: W868

class W870:
    x128: W869
    x16: W869
    x32: W869
    x4: W869
    x64: W869
    x8: W869

class W871:
    _32x32b: W870

class W872:
    aligned: W871

class W873:
    sync: W872

class W874:
    b32: Call
    pack__16b: W3

class W875:
    x1: W874
    x16: W874
    x2: W874
    x32: W874
    x4: W874
    x64: W874
    x8: W874

class W876:
    x1: W874
    x16: W874
    x2: W874
    x32: W874
    x4: W874
    x8: W874

class W877:
    x1: W874
    x128: W874
    x16: W874
    x2: W874
    x32: W874
    x4: W874
    x64: W874
    x8: W874

class W878:
    _16x128b: W875
    _16x256b: W876
    _16x32bx2: W877
    _16x64b: W877
    _32x32b: W877

class W879:
    aligned: W878

class W880:
    red: W866
    spcompress: W873
    sync: W879

class W881(Call):
    collector__b__discard: Call
    collector__b__fill: Call
    collector__b__lastuse: Call
    collector__b__use: Call

class W882(Call):
    collector__a__discard: W881
    collector__a__lastuse: W881
    collector__b__discard: Call
    collector__b__fill: Call
    collector__b__lastuse: Call
    collector__b__use: Call

class W883(Call):
    ashift: W882
    collector__a__discard: W881
    collector__a__fill: W881
    collector__a__lastuse: W881
    collector__a__use: W881
    collector__b__discard: Call
    collector__b__fill: Call
    collector__b__lastuse: Call
    collector__b__use: Call

class W884(Call):
    collector__a__discard: W881
    collector__a__fill: W881
    collector__a__lastuse: W881
    collector__a__use: W881
    collector__b__discard: Call
    collector__b__fill: Call
    collector__b__lastuse: Call
    collector__b__use: Call

class W885(Call):
    ashift: W882
    collector__a__discard: W881
    collector__a__fill: W881
    collector__a__lastuse: W881
    collector__a__use: W881
    collector__b__discard: Call
    collector__b__fill: Call
    collector__b__lastuse: Call
    collector__b__use: Call
    decompress__lut__b: W884

class W886(Call):
    collector__a__discard: Call
    collector__a__lastuse: Call

class W887(Call):
    ashift: W886
    collector__a__discard: Call
    collector__a__fill: Call
    collector__a__lastuse: Call
    collector__a__use: Call

class W888(Call):
    block32: W884
    collector__a__discard: W881
    collector__a__fill: W881
    collector__a__lastuse: W881
    collector__a__use: W881
    collector__b__discard: Call
    collector__b__fill: Call
    collector__b__lastuse: Call
    collector__b__use: Call
    scale_vec__2X: W884

class W889:
    block_scale: W888

class W890:
    block16: W884
    block32: W884
    scale_vec__2X: W884
    scale_vec__4X: W884

class W891:
    block_scale: W890

class W892(Call):
    block32: W884
    collector__a__discard: W881
    collector__a__fill: W881
    collector__a__lastuse: W881
    collector__a__use: W881
    collector__b__discard: Call
    collector__b__fill: Call
    collector__b__lastuse: Call
    collector__b__use: Call
    scale_vec__1X: W884

class W893(Call):
    block32: W884
    collector__a__discard: W881
    collector__a__fill: W881
    collector__a__lastuse: W881
    collector__a__use: W881
    collector__b__discard: Call
    collector__b__fill: Call
    collector__b__lastuse: Call
    collector__b__use: Call
    decompress__lut__b: W892
    scale_vec__1X: W884

class W894:
    block_scale: W893

class W895:
    kind__f16: W883
    kind__f8f6f4: W885
    kind__i8: W887
    kind__mxf4: W889
    kind__mxf4nvf4: W891
    kind__mxf8f6f4: W894
    kind__tf32: W883
    kind__ti16: W883

class W896:
    block_scale: W892

class W897:
    kind__f16: W883
    kind__f8f6f4: W883
    kind__i8: W887
    kind__mxf4: W889
    kind__mxf4nvf4: W891
    kind__mxf8f6f4: W896
    kind__tf32: W883
    kind__ti16: W883

class W898:
    cta_group__1: W897
    cta_group__2: W897

class W899(Call):
    collector__b0__discard: Call
    collector__b0__fill: Call
    collector__b0__lastuse: Call
    collector__b0__use: Call
    collector__b1__discard: Call
    collector__b1__fill: Call
    collector__b1__lastuse: Call
    collector__b1__use: Call
    collector__b2__discard: Call
    collector__b2__fill: Call
    collector__b2__lastuse: Call
    collector__b2__use: Call
    collector__b3__discard: Call
    collector__b3__fill: Call
    collector__b3__lastuse: Call
    collector__b3__use: Call

class W900:
    kind__f16: W899
    kind__f8f6f4: W899
    kind__i8: W899
    kind__tf32: W899
    kind__ti16: W899

class W901:
    cta_group__1: W900

class W902:
    cta_group__1: W900
    sp: W901

class W903:
    cta_group__1: W895
    cta_group__2: W895
    sp: W898
    ws: W902

class W904:
    aligned: Call

class W905:
    sync: W904

class W906:
    cta_group__1: W905
    cta_group__2: W905

class W907:
    down: Call

class W908:
    cta_group__1: W907
    cta_group__2: W907

class W909:
    b32: Call
    unpack__16b: W3

class W910:
    x1: W909
    x16: W909
    x2: W909
    x32: W909
    x4: W909
    x64: W909
    x8: W909

class W911:
    x1: W909
    x16: W909
    x2: W909
    x32: W909
    x4: W909
    x8: W909

class W912:
    x1: W909
    x128: W909
    x16: W909
    x2: W909
    x32: W909
    x4: W909
    x64: W909
    x8: W909

class W913:
    _16x128b: W910
    _16x256b: W911
    _16x32bx2: W912
    _16x64b: W912
    _32x32b: W912

class W914:
    aligned: W913

class W915:
    sync: W914

class W916:
    alloc: W837
    commit: W842
    cp: W847
    dealloc: W851
    fence__after_thread_sync: Call
    fence__before_thread_sync: Call
    ld: W880
    mma: W903
    relinquish_alloc_permit: W906
    shift: W908
    st: W915
    wait__ld: W905
    wait__st: W905

class W917:
    cluster: W905
    cta: W905
    gpu: W905
    sys: W905

class W918:
    release: W917

class W919:
    tensormap__generic: W918

class W920:
    shared__cta: W919

class W921:
    global_: W920

class W922:
    b1024: W3

class W923:
    b1024: W3
    global_: W922
    shared__cta: W922

class W924:
    b1024: W206

class W925:
    b1024: W206
    global_: W924
    shared__cta: W924

class W926:
    box_dim: W923
    element_stride: W923
    elemtype: W923
    fill_mode: W923
    global_address: W925
    global_dim: W923
    global_stride: W925
    interleave_layout: W923
    rank: W923
    swizzle_atomicity: W923
    swizzle_mode: W923

class W927:
    tile: W926

class W928:
    cp_fenceproxy: W921
    replace: W927

class W929:
    finite: W99
    infinite: W99
    normal: W99
    notanumber: W99
    number: W99
    subnormal: W99

class W930:
    f16x2: W759

class W931:
    f16: W759
    f32: W759
    s32: W759
    u32: W759

class W932:
    v2: W930
    v4: W931

class W933:
    f16x2: W252

class W934:
    f16: W252
    f32: W252
    s32: W252
    u32: W252

class W935:
    v2: W933
    v4: W934

class W936:
    f16x2: W11

class W937:
    f16: W11
    f32: W11
    s32: W11
    u32: W11

class W938:
    v2: W936
    v4: W937

class W939:
    _1d: W932
    _2d: W932
    _2dms: W935
    _3d: W932
    a1d: W932
    a2d: W932
    a2dms: W935
    acube: W938
    cube: W938

class W940:
    _1d: W932
    _2d: W932
    _3d: W932
    a1d: W932
    a2d: W932
    acube: W938
    cube: W938

class W941:
    _1d: W932
    _2d: W932
    _2dms: W935
    _3d: W932
    a1d: W932
    a2d: W932
    a2dms: W935
    acube: W938
    base: W939
    cube: W938
    grad: W940
    level: W940

class W942:
    f32: W11
    s32: W11
    u32: W11

class W943:
    v4: W942

class W944:
    _2d: W943
    a2d: W943
    acube: W943
    cube: W943

class W945:
    a: W944
    b: W944
    g: W944
    r: W944

class W946:
    depth: W3
    height: W3
    width: W3

class W947:
    addr_mode_0: W3
    addr_mode_1: W3
    addr_mode_2: W3
    array_size: W3
    channel_data_type: W3
    channel_order: W3
    depth: W3
    filter_mode: W3
    force_unnormalized_coords: W3
    height: W3
    level: W946
    normalized_coords: W3
    num_mipmap_levels: W3
    num_samples: W3
    width: W3

class W948(Call):
    add: Call
    max: Call
    min: Call

class W949(Call):
    add: Call
    max: Call
    min: Call
    sat: W948

class W950:
    s32: W949
    u32: W949

class W951:
    s32: W950
    u32: W950

class W952:
    s32: W951
    u32: W951

class W953(Call):
    add: Call
    sat: Call

class W954:
    s32: W953
    u32: W953

class W955:
    s32: W954
    u32: W954

class W956:
    s32: W955
    u32: W955

class W957(Call):
    shr15: Call
    shr7: Call

class W958(Call):
    sat: W957
    shr15: Call
    shr7: Call

class W959(Call):
    po: W958
    sat: W957
    shr15: Call
    shr7: Call

class W960:
    s32: W959
    u32: W959

class W961:
    s32: W960
    u32: W960

class W962:
    s32: W961
    u32: W961

class W963:
    all: W68
    any: W68
    ballot: W3
    uni: W68

class W964:
    all: W68
    any: W68
    ballot: W3
    sync: W963
    uni: W68

class W965:
    eq: W948
    ge: W948
    gt: W948
    le: W948
    lt: W948
    ne: W948

class W966:
    s32: W965
    u32: W965

class W967:
    s32: W966
    u32: W966

class W968(Call):
    add: Call

class W969:
    eq: W968
    ge: W968
    gt: W968
    le: W968
    lt: W968
    ne: W968

class W970:
    s32: W969
    u32: W969

class W971:
    s32: W970
    u32: W970

class W972:
    clamp: W948
    wrap: W948

class W973:
    clamp: W948
    sat: W972
    wrap: W948

class W974:
    u32: W973

class W975:
    s32: W974
    u32: W974

class W976:
    s32: W975
    u32: W975

class W977:
    tf32: Call

class W978:
    tf32: W977

class W979:
    f32: W978

class W980:
    bf16: W246
    f16: W247

class W981:
    f16: W498
    f32: W980

class W982:
    e4m3: Call
    e5m2: Call

class W983:
    e4m3: W982
    e5m2: W982

class W984:
    f16: W983
    f32: W983

class W985:
    s8: Call
    u8: Call

class W986:
    s8: W985
    u8: W985

class W987:
    s32: W986

class W988:
    f16: W983
    f32: W983
    s32: W986
    satfinite: W987

class W989:
    m64n104k16: W979
    m64n104k32: W981
    m64n104k64: W984
    m64n112k16: W979
    m64n112k32: W981
    m64n112k64: W988
    m64n120k16: W979
    m64n120k32: W981
    m64n120k64: W984
    m64n128k16: W979
    m64n128k32: W981
    m64n128k64: W988
    m64n136k16: W979
    m64n136k32: W981
    m64n136k64: W984
    m64n144k16: W979
    m64n144k32: W981
    m64n144k64: W988
    m64n152k16: W979
    m64n152k32: W981
    m64n152k64: W984
    m64n160k16: W979
    m64n160k32: W981
    m64n160k64: W988
    m64n168k16: W979
    m64n168k32: W981
    m64n168k64: W984
    m64n16k16: W979
    m64n16k32: W981
    m64n16k64: W988
    m64n176k16: W979
    m64n176k32: W981
    m64n176k64: W988
    m64n184k16: W979
    m64n184k32: W981
    m64n184k64: W984
    m64n192k16: W979
    m64n192k32: W981
    m64n192k64: W988
    m64n200k16: W979
    m64n200k32: W981
    m64n200k64: W984
    m64n208k16: W979
    m64n208k32: W981
    m64n208k64: W988
    m64n216k16: W979
    m64n216k32: W981
    m64n216k64: W984
    m64n224k16: W979
    m64n224k32: W981
    m64n224k64: W988
    m64n232k16: W979
    m64n232k32: W981
    m64n232k64: W984
    m64n240k16: W979
    m64n240k32: W981
    m64n240k64: W988
    m64n248k16: W979
    m64n248k32: W981
    m64n248k64: W984
    m64n24k16: W979
    m64n24k32: W981
    m64n24k64: W988
    m64n256k16: W979
    m64n256k32: W981
    m64n256k64: W988
    m64n32k16: W979
    m64n32k32: W981
    m64n32k64: W988
    m64n40k16: W979
    m64n40k32: W981
    m64n40k64: W984
    m64n48k16: W979
    m64n48k32: W981
    m64n48k64: W988
    m64n56k16: W979
    m64n56k32: W981
    m64n56k64: W984
    m64n64k16: W979
    m64n64k32: W981
    m64n64k64: W988
    m64n72k16: W979
    m64n72k32: W981
    m64n72k64: W984
    m64n80k16: W979
    m64n80k32: W981
    m64n80k64: W988
    m64n88k16: W979
    m64n88k32: W981
    m64n88k64: W984
    m64n8k16: W979
    m64n8k32: W981
    m64n8k64: W988
    m64n96k16: W979
    m64n96k32: W981
    m64n96k64: W988

class W990:
    aligned: W989

class W991:
    sync: W990

class W992:
    and_: W590

class W993:
    b1: W992

class W994:
    b1: W993

class W995:
    s32: W994

class W996:
    m64n104k16: W981
    m64n104k32: W984
    m64n104k8: W979
    m64n112k16: W981
    m64n112k256: W995
    m64n112k32: W988
    m64n112k8: W979
    m64n120k16: W981
    m64n120k32: W984
    m64n120k8: W979
    m64n128k16: W981
    m64n128k256: W995
    m64n128k32: W988
    m64n128k8: W979
    m64n136k16: W981
    m64n136k32: W984
    m64n136k8: W979
    m64n144k16: W981
    m64n144k256: W995
    m64n144k32: W988
    m64n144k8: W979
    m64n152k16: W981
    m64n152k32: W984
    m64n152k8: W979
    m64n160k16: W981
    m64n160k256: W995
    m64n160k32: W988
    m64n160k8: W979
    m64n168k16: W981
    m64n168k32: W984
    m64n168k8: W979
    m64n16k16: W981
    m64n16k256: W995
    m64n16k32: W988
    m64n16k8: W979
    m64n176k16: W981
    m64n176k256: W995
    m64n176k32: W988
    m64n176k8: W979
    m64n184k16: W981
    m64n184k32: W984
    m64n184k8: W979
    m64n192k16: W981
    m64n192k256: W995
    m64n192k32: W988
    m64n192k8: W979
    m64n200k16: W981
    m64n200k32: W984
    m64n200k8: W979
    m64n208k16: W981
    m64n208k256: W995
    m64n208k32: W988
    m64n208k8: W979
    m64n216k16: W981
    m64n216k32: W984
    m64n216k8: W979
    m64n224k16: W981
    m64n224k256: W995
    m64n224k32: W988
    m64n224k8: W979
    m64n232k16: W981
    m64n232k32: W984
    m64n232k8: W979
    m64n240k16: W981
    m64n240k256: W995
    m64n240k32: W988
    m64n240k8: W979
    m64n248k16: W981
    m64n248k32: W984
    m64n248k8: W979
    m64n24k16: W981
    m64n24k256: W995
    m64n24k32: W988
    m64n24k8: W979
    m64n256k16: W981
    m64n256k256: W995
    m64n256k32: W988
    m64n256k8: W979
    m64n32k16: W981
    m64n32k256: W995
    m64n32k32: W988
    m64n32k8: W979
    m64n40k16: W981
    m64n40k32: W984
    m64n40k8: W979
    m64n48k16: W981
    m64n48k256: W995
    m64n48k32: W988
    m64n48k8: W979
    m64n56k16: W981
    m64n56k32: W984
    m64n56k8: W979
    m64n64k16: W981
    m64n64k256: W995
    m64n64k32: W988
    m64n64k8: W979
    m64n72k16: W981
    m64n72k32: W984
    m64n72k8: W979
    m64n80k16: W981
    m64n80k256: W995
    m64n80k32: W988
    m64n80k8: W979
    m64n88k16: W981
    m64n88k32: W984
    m64n88k8: W979
    m64n8k16: W981
    m64n8k256: W995
    m64n8k32: W988
    m64n8k8: W979
    m64n96k16: W981
    m64n96k256: W995
    m64n96k32: W988
    m64n96k8: W979

class W997:
    aligned: W996

class W998:
    sp: W991
    sync: W997

class W999:
    commit_group: W905
    fence: W905
    mma_async: W998
    wait_group: W905

class W1000:
    bf16: Call
    f16: Call
    s8: Call
    u8: Call

class W1001:
    bf16: Call
    f16: Call
    global_: W1000
    s8: Call
    shared: W1000
    shared__cta: W1000
    u8: Call

class W1002:
    global_: W977
    shared: W977
    shared__cta: W977
    tf32: Call

class W1003:
    f64: Call
    global_: W267
    shared: W267
    shared__cta: W267

class W1004:
    m16n16k16: W1001
    m16n16k8: W1002
    m32n8k16: W1001
    m8n32k16: W1001
    m8n8k4: W1003

class W1005:
    b1: Call

class W1006:
    b1: Call
    global_: W1005
    shared: W1005
    shared__cta: W1005

class W1007:
    s4: Call
    u4: Call

class W1008:
    global_: W1007
    s4: Call
    shared: W1007
    shared__cta: W1007
    u4: Call

class W1009:
    m16n16k16: W1001
    m16n16k8: W1002
    m32n8k16: W1001
    m8n32k16: W1001
    m8n8k128: W1006
    m8n8k32: W1008
    m8n8k4: W1003

class W1010:
    col: W1004
    row: W1009

class W1011:
    f16: Call
    global_: W247
    shared: W247

class W1012:
    m16n16k16: W1011
    m32n8k16: W1011
    m8n32k16: W1011

class W1013:
    aligned: W1010
    col: W1012
    row: W1012

class W1014:
    sync: W1013

class W1015:
    col: W1009
    row: W1004

class W1016:
    aligned: W1015
    col: W1012
    row: W1012

class W1017:
    sync: W1016

class W1018:
    f16: Call
    f32: Call
    s32: Call

class W1019:
    f16: Call
    f32: Call
    global_: W1018
    s32: Call
    shared: W1018
    shared__cta: W1018

class W1020:
    f32: Call
    global_: W11
    shared: W11
    shared__cta: W11

class W1021:
    global_: W252
    s32: Call
    shared: W252
    shared__cta: W252

class W1022:
    m16n16k16: W1019
    m16n16k8: W1020
    m32n8k16: W1019
    m8n32k16: W1019
    m8n8k128: W1021
    m8n8k32: W1021
    m8n8k4: W1003

class W1023:
    col: W1022
    row: W1022

class W1024:
    f16: Call
    f32: Call
    global_: W249
    shared: W249

class W1025:
    m16n16k16: W1024
    m32n8k16: W1024
    m8n32k16: W1024

class W1026:
    aligned: W1023
    col: W1025
    row: W1025

class W1027:
    sync: W1026

class W1028:
    a: W1014
    b: W1017
    c: W1027

class W1029:
    b1: W252

class W1030:
    b1: W1029

class W1031:
    s32: W1030

class W1032:
    m8n8k128: W1031

class W1033:
    col: W1032

class W1034:
    row: W1033

class W1035:
    aligned: W1034

class W1036:
    sync: W1035

class W1037:
    popc: W1036

class W1038:
    bf16: W500
    f16: Call
    f32: Call

class W1039(Call):
    satfinite: Call

class W1040:
    s32: W1039

class W1041:
    s8: W1040

class W1042:
    u8: W1040

class W1043:
    s8: W1041
    u8: W1042

class W1044:
    f16: W249
    f32: W1038
    s32: W1043

class W1045:
    f64: W601

class W1046:
    f64: W601
    rm: W1045
    rn: W1045
    rp: W1045
    rz: W1045

class W1047:
    m16n16k16: W1044
    m16n16k8: W521
    m32n8k16: W1044
    m8n32k16: W1044
    m8n8k4: W1046

class W1048:
    col: W1047
    row: W1047

class W1049:
    s4: W1040

class W1050:
    u4: W1040

class W1051:
    s4: W1049
    u4: W1050

class W1052:
    s32: W1051

class W1053:
    m16n16k16: W1044
    m16n16k8: W521
    m32n8k16: W1044
    m8n32k16: W1044
    m8n8k32: W1052
    m8n8k4: W1046

class W1054:
    col: W1053
    row: W1047

class W1055:
    col: W1048
    row: W1054

class W1056:
    f16: W249
    f32: W249

class W1057:
    m16n16k16: W1056
    m32n8k16: W1056
    m8n32k16: W1056

class W1058:
    col: W1057
    row: W1057

class W1059:
    aligned: W1055
    col: W1058
    row: W1058

class W1060:
    and_: W1037
    sync: W1059
    xor: W1037

class W1061:
    d: W1027

class W1062:
    load: W1028
    mma: W1060
    store: W1061

class Axes:
    x: Value
    y: Value
    z: Value

class Instructions:
    abs: W2
    activemask: W3
    add: W23
    addc: W24
    alloca: W25
    and_: W26
    applypriority: W44
    atom: W67
    bar: W72
    barrier: W81
    bfe: W6
    bfi: W51
    bfind: W82
    bmsk: W83
    bra: W84
    brev: W51
    brkpt: Call
    brx: W85
    call: W84
    clmad: W87
    clusterlaunchcontrol: W97
    clz: W51
    cnot: W98
    copysign: W99
    cos: W101
    cp: W240
    createpolicy: W245
    cvt: W318
    cvta: W320
    discard: W322
    div: W324
    dp2a: W326
    dp4a: W325
    elect: W71
    ex2: W329
    exit: Call
    fabric: W378
    fence: W394
    fma: W403
    fns: W3
    getctarank: W404
    griddepcontrol: W405
    isspacep: W406
    istypep: W407
    ld: W436
    ldmatrix: W452
    ldu: W453
    lg2: W101
    lop3: W454
    mad: W460
    mad24: W462
    madc: W463
    mapa: W404
    match: W465
    max: W473
    mbarrier: W489
    membar: W491
    min: W473
    mma: W623
    mov: W624
    movmatrix: W628
    mul: W640
    mul24: W641
    multimem: W691
    nanosleep: W54
    neg: W692
    not_: W26
    or_: W26
    pmevent: W693
    popc: W51
    prefetch: W698
    prefetchu: W699
    prmt: W701
    rcp: W703
    red: W716
    redux: W720
    rem: W635
    ret: W84
    rsqrt: W722
    sad: W635
    selp: W723
    set: W743
    setmaxnreg: W746
    setp: W754
    shf: W755
    shfl: W757
    shl: W98
    shr: W758
    sin: W101
    slct: W761
    spcompress: W765
    spdecompress: W775
    sqrt: W776
    st: W797
    stackrestore: W25
    stacksave: W25
    stmatrix: W804
    sub: W806
    subc: W24
    suld: W813
    suq: W814
    sured: W825
    sust: W830
    szext: W831
    tanh: W832
    tcgen05: W916
    tensormap: W928
    testp: W929
    tex: W941
    tld4: W945
    trap: Call
    txq: W947
    vabsdiff: W952
    vabsdiff2: W956
    vabsdiff4: W956
    vadd: W952
    vadd2: W956
    vadd4: W956
    vavrg2: W956
    vavrg4: W956
    vmad: W962
    vmax: W952
    vmax2: W956
    vmax4: W956
    vmin: W952
    vmin2: W956
    vmin4: W956
    vote: W964
    vset: W967
    vset2: W971
    vset4: W971
    vshl: W976
    vshr: W976
    vsub: W952
    vsub2: W956
    vsub4: W956
    wgmma: W999
    wmma: W1062
    xor: W26
    aggr_smem_size: Value
    cluster_ctaid: Axes
    cluster_ctarank: Value
    cluster_nctaid: Axes
    cluster_nctarank: Value
    clusterid: Axes
    ctaid: Axes
    current_graph_exec: Value
    dynamic_smem_size: Value
    envreg0: Value
    envreg1: Value
    envreg10: Value
    envreg11: Value
    envreg12: Value
    envreg13: Value
    envreg14: Value
    envreg15: Value
    envreg16: Value
    envreg17: Value
    envreg18: Value
    envreg19: Value
    envreg2: Value
    envreg20: Value
    envreg21: Value
    envreg22: Value
    envreg23: Value
    envreg24: Value
    envreg25: Value
    envreg26: Value
    envreg27: Value
    envreg28: Value
    envreg29: Value
    envreg3: Value
    envreg30: Value
    envreg31: Value
    envreg4: Value
    envreg5: Value
    envreg6: Value
    envreg7: Value
    envreg8: Value
    envreg9: Value
    gridid: Value
    is_explicit_cluster: Value
    laneid: Value
    lanemask_eq: Value
    lanemask_ge: Value
    lanemask_gt: Value
    lanemask_le: Value
    lanemask_lt: Value
    nclusterid: Axes
    nctaid: Axes
    ntid: Axes
    nwarpid: Value
    perctamemoryoffset: Value
    perctamemorysize: Value
    reserved_smem_offset_0: Value
    reserved_smem_offset_1: Value
    reserved_smem_offset_begin: Value
    reserved_smem_offset_cap: Value
    reserved_smem_offset_end: Value
    tid: Axes
    total_smem_size: Value
