"""What may follow what in an instruction's name: made by `python -m ptxgen.build.stubs`, not by hand."""

from typing import Any

from ptxgen.build.handles import Value

class Call:
    def __call__(self, *sources: object, into: object = None) -> Any: ...

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
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W5(Call):
    bf16: Call
    f16: Call

class W6:
    f16: Call
    f16x2: Call
    f32: Call
    f32x2: Call
    sat: W1

class W7:
    f32: Call

class W8:
    f32: Call
    f32x2: Call
    sat: W7

class W9:
    f32: W5

class W10:
    f32: W5
    f32x2: Call
    f64: Call
    ftz: W8
    sat: W9

class W11:
    f16: Call
    f16x2: Call
    f32: W5

class W12:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: W5
    f32x2: Call
    f64: Call
    ftz: W6
    sat: W11

class W13:
    f16: Call
    f16x2: Call
    f32: W5
    s16x2: Call
    s32: Call
    s8x4: Call
    u16x2: Call
    u32: Call
    u8x4: Call

class W14:
    bf16: Call
    bf16x2: Call
    cc: W4
    f16: Call
    f16x2: Call
    f32: W5
    f32x2: Call
    f64: Call
    ftz: W6
    rm: W10
    rn: W12
    rp: W10
    rz: W10
    s16: Call
    s16x2: Call
    s32: Call
    s64: Call
    s8x4: Call
    sat: W13
    u16: Call
    u16x2: Call
    u32: Call
    u64: Call
    u8x4: Call

class W15:
    cc: W4
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W16:
    u32: Call
    u64: Call

class W17:
    b16: Call
    b32: Call
    b64: Call
    pred: Call

class W18:
    L2__evict_normal: Call

class W19:
    bulk_group: W18

class W20:
    bulk_group: W18
    tile: W19

class W21:
    bulk_group: W18
    global_: W20
    tile: W19

class W22:
    _1d: W21
    _2d: W21
    _3d: W21
    _4d: W21
    _5d: W21

class W23:
    bulk_group: W18
    global_: W19
    tensor: W22

class W24:
    bulk: W23

class W25:
    L2__evict_normal: Call
    async_: W24
    global_: W18

class W26:
    f32: Call
    f64: Call
    s32: Call
    u32: Call
    u64: Call
    v2: W7
    v4: W7

class W27:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call

class W28:
    bf16: Call
    f16: Call

class W29:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    v2: W27
    v4: W27
    v8: W28

class W30:
    L2__cache_hint: W29
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    v2: W27
    v4: W27
    v8: W28

class W31:
    L2__cache_hint: W26
    f32: Call
    f64: Call
    noftz: W30
    s32: Call
    u32: Call
    u64: Call
    v2: W7
    v4: W7

class W32:
    b32: Call
    b64: Call

class W33:
    L2__cache_hint: W32
    b32: Call
    b64: Call

class W34:
    b128: Call
    b16: Call
    b32: Call
    b64: Call

class W35:
    u32: Call

class W36:
    L2__cache_hint: W35
    u32: Call

class W37:
    b128: Call
    b32: Call
    b64: Call

class W38:
    L2__cache_hint: W37
    b128: Call
    b32: Call
    b64: Call

class W39:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call

class W40:
    v2: W39
    v4: W39
    v8: W28

class W41:
    L2__cache_hint: W40
    v2: W39
    v4: W39
    v8: W28

class W42:
    L2__cache_hint: W4
    noftz: W41
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W43:
    add: W31
    and_: W33
    cas: W34
    dec: W36
    exch: W38
    inc: W36
    max: W42
    min: W42
    or_: W33
    xor: W33

class W44:
    f32: Call
    f64: Call
    noftz: W27
    s32: Call
    u32: Call
    u64: Call

class W45:
    add: W44
    and_: W32
    cas: W34
    dec: W35
    exch: W37
    inc: W35
    max: W4
    min: W4
    or_: W32
    xor: W32

class W46:
    add: W31
    and_: W33
    cas: W34
    dec: W36
    exch: W38
    global_: W43
    inc: W36
    max: W42
    min: W42
    or_: W33
    shared: W45
    shared__cluster: W45
    shared__cta: W45
    xor: W33

class W47:
    add: W31
    and_: W33
    cas: W34
    cluster: W46
    cta: W46
    dec: W36
    exch: W38
    global_: W43
    gpu: W46
    inc: W36
    max: W42
    min: W42
    or_: W33
    shared: W45
    shared__cluster: W45
    shared__cta: W45
    sys: W46
    xor: W33

class W48:
    acq_rel: W47
    acquire: W47
    add: W31
    and_: W33
    cas: W34
    cluster: W46
    cta: W46
    dec: W36
    exch: W38
    global_: W43
    gpu: W46
    inc: W36
    max: W42
    min: W42
    or_: W33
    relaxed: W47
    release: W47
    shared: W45
    shared__cluster: W45
    shared__cta: W45
    sys: W46
    xor: W33

class W49:
    pred: Call

class W50:
    and_: W49
    or_: W49
    popc: W35

class W51:
    arrive: Call
    red: W50
    sync: Call

class W52:
    sync: Call

class W53:
    arrive: Call
    cta: W51
    red: W50
    sync: Call
    warp: W52

class W54(Call):
    aligned: Call

class W55(Call):
    aligned: Call
    relaxed: W54
    release: W54

class W56(Call):
    acquire: W54
    aligned: Call

class W57:
    arrive: W55
    wait: W56

class W58:
    aligned: W49
    pred: Call

class W59:
    aligned: W35
    u32: Call

class W60:
    and_: W58
    or_: W58
    popc: W59

class W61:
    arrive: W54
    red: W60
    sync: W54

class W62:
    arrive: W54
    cluster: W57
    cta: W61
    red: W60
    sync: W54

class W63:
    s32: Call
    s64: Call
    shiftamt: W4
    u32: Call
    u64: Call

class W64:
    clamp: W3
    wrap: W3

class W65(Call):
    uni: Call

class W66:
    idx: W65

class W67:
    u64: Call

class W68:
    hi: W67
    lo: W67

class W69:
    b128: Call

class W70:
    b32: W69

class W71:
    v4: W70

class W72:
    pred: W69

class W73:
    get_first_ctaid: W71
    get_first_ctaid__x: W70
    get_first_ctaid__y: W70
    get_first_ctaid__z: W70
    is_canceled: W72

class W74:
    b128: Call
    multicast__cluster__all: W69

class W75:
    mbarrier__complete_tx__bytes: W74

class W76:
    mbarrier__complete_tx__bytes: W74
    shared__cta: W75

class W77:
    async_: W76

class W78:
    query_cancel: W73
    try_cancel: W77

class W79:
    b16: Call
    b32: Call
    b64: Call

class W80:
    f32: Call
    f64: Call

class W81:
    f32: Call
    ftz: W7

class W82:
    approx: W81

class W83(Call):
    cp_mask: Call

class W84(Call):
    L2__cache_hint: W83
    cp_mask: Call

class W85:
    bulk_group: W84

class W86:
    shared__cta: W85

class W87(Call):
    L2__cache_hint: Call
    L2__evict_last: Call

class W88:
    global_: W87

class W89(Call):
    L2__cache_hint: Call
    L2__evict_last: Call
    tile: W87

class W90:
    global_: W89

class W91:
    L2: W90

class W92(Call):
    L2__cache_hint: Call
    L2__evict_last: Call
    tile: W87
    tile__gather4: W87

class W93:
    global_: W92

class W94:
    L2: W93

class W95(Call):
    L2__cache_hint: Call
    L2__evict_last: Call
    im2col: W87
    im2col__w: W87
    im2col__w__128: W87
    tile: W87

class W96:
    global_: W95

class W97:
    L2: W96

class W98:
    _1d: W91
    _2d: W94
    _3d: W97
    _4d: W97
    _5d: W97

class W99:
    L2: W88
    tensor: W98

class W100:
    b128: Call
    cp_mask: W69

class W101:
    L2__cache_hint: W100
    b128: Call
    cp_mask: W69

class W102:
    bulk_group: W101

class W103:
    shared__cta: W102

class W104:
    L2__cache_hint: W69
    b128: Call

class W105:
    L2__cache_hint: W69
    b128: Call
    multicast__cluster: W104
    multicast__cluster__32b: W104

class W106:
    L2__cache_hint: W69
    b128: Call
    mbarrier__report__disabled: W105
    mbarrier__report__validity__per_16bytes__8: W105
    mbarrier__report__validity__per_16bytes__80: W105
    mbarrier__report__validity__per_16bytes__8000: W105
    mbarrier__report__validity__per_16bytes__80000000: W105
    mbarrier__report__validity__per_element__ff: W105
    multicast__cluster: W104
    multicast__cluster__32b: W104

class W107:
    mbarrier__complete_tx__bytes: W106

class W108:
    mbarrier__complete_tx__bytes: W69

class W109:
    global_: W107
    shared__cta: W108

class W110:
    b128: Call
    ignore_oob: W69

class W111:
    L2__cache_hint: W110
    b128: Call
    ignore_oob: W69

class W112:
    L2__cache_hint: W110
    b128: Call
    ignore_oob: W69
    mbarrier__report__disabled: W111
    mbarrier__report__validity__per_16bytes__8: W104
    mbarrier__report__validity__per_16bytes__80: W104
    mbarrier__report__validity__per_16bytes__8000: W104
    mbarrier__report__validity__per_16bytes__80000000: W104
    mbarrier__report__validity__per_element__ff: W104

class W113:
    mbarrier__complete_tx__bytes: W112

class W114:
    global_: W113

class W115:
    global_: W103
    shared__cluster: W109
    shared__cta: W114

class W116:
    global_: W107

class W117:
    global_: W103
    shared__cluster: W116
    shared__cta: W114

class W118:
    cluster: W115
    cta: W115
    gpu: W117
    sys: W117

class W119(Call):
    L2__cache_hint: Call

class W120(Call):
    L2__cache_hint: Call
    multicast__cluster: W119
    multicast__cluster__32b: W119

class W121(Call):
    L2__cache_hint: Call
    mbarrier__report__disabled: W120
    mbarrier__report__validity__per_16bytes__8: W120
    mbarrier__report__validity__per_16bytes__80: W120
    mbarrier__report__validity__per_16bytes__8000: W120
    mbarrier__report__validity__per_16bytes__80000000: W120
    mbarrier__report__validity__per_element__ff: W120
    multicast__cluster: W119
    multicast__cluster__32b: W119

class W122:
    mbarrier__complete_tx__bytes: W121

class W123:
    mbarrier__complete_tx__bytes: Call

class W124:
    global_: W122
    shared__cta: W123

class W125(Call):
    ignore_oob: Call

class W126(Call):
    L2__cache_hint: W125
    ignore_oob: Call

class W127(Call):
    L2__cache_hint: W125
    ignore_oob: Call
    mbarrier__report__disabled: W126
    mbarrier__report__validity__per_16bytes__8: W119
    mbarrier__report__validity__per_16bytes__80: W119
    mbarrier__report__validity__per_16bytes__8000: W119
    mbarrier__report__validity__per_16bytes__80000000: W119
    mbarrier__report__validity__per_element__ff: W119

class W128:
    mbarrier__complete_tx__bytes: W127

class W129:
    global_: W128

class W130:
    bulk_group: W119

class W131:
    bulk_group: W119
    tile: W130

class W132:
    shared__cta: W131

class W133(Call):
    L2__cache_hint: Call
    cta_group__1: W119
    cta_group__2: W119

class W134(Call):
    L2__cache_hint: Call
    cta_group__1: W119
    cta_group__2: W119
    multicast__cluster: W133
    multicast__cluster__32b: W133

class W135(Call):
    L2__cache_hint: Call
    cta_group__1: W119
    cta_group__2: W119
    mbarrier__report__disabled: W134
    mbarrier__report__validity__per_16bytes__8: W134
    mbarrier__report__validity__per_16bytes__80: W134
    mbarrier__report__validity__per_16bytes__8000: W134
    mbarrier__report__validity__per_16bytes__80000000: W134
    mbarrier__report__validity__per_element__ff: W134
    multicast__cluster: W133
    multicast__cluster__32b: W133

class W136:
    mbarrier__complete_tx__bytes: W135

class W137:
    mbarrier__complete_tx__bytes: W135
    tile: W136

class W138:
    global_: W137

class W139(Call):
    L2__cache_hint: Call
    cta_group__1: W119
    cta_group__2: W119
    mbarrier__report__disabled: W133
    mbarrier__report__validity__per_16bytes__8: W133
    mbarrier__report__validity__per_16bytes__80: W133
    mbarrier__report__validity__per_16bytes__8000: W133
    mbarrier__report__validity__per_16bytes__80000000: W133
    mbarrier__report__validity__per_element__ff: W133

class W140:
    mbarrier__complete_tx__bytes: W139

class W141:
    mbarrier__complete_tx__bytes: W139
    tile: W140

class W142:
    global_: W141

class W143:
    global_: W132
    shared__cluster: W138
    shared__cta: W142

class W144:
    bulk_group: W119
    tile: W130
    tile__scatter4: W130

class W145:
    shared__cta: W144

class W146:
    mbarrier__complete_tx__bytes: W135
    tile: W136
    tile__gather4: W136

class W147:
    global_: W146

class W148:
    mbarrier__complete_tx__bytes: W139
    tile: W140
    tile__gather4: W140

class W149:
    global_: W148

class W150:
    global_: W145
    shared__cluster: W147
    shared__cta: W149

class W151:
    bulk_group: W119
    im2col_no_offs: W130
    im2col_no_offs__w: W130
    tile: W130

class W152:
    shared__cta: W151

class W153:
    im2col: W136
    im2col__w: W136
    im2col__w__128: W136
    mbarrier__complete_tx__bytes: W135
    tile: W136

class W154:
    global_: W153

class W155:
    im2col: W140
    im2col__w: W140
    im2col__w__128: W140
    mbarrier__complete_tx__bytes: W139
    tile: W140

class W156:
    global_: W155

class W157:
    global_: W152
    shared__cluster: W154
    shared__cta: W156

class W158:
    _1d: W143
    _2d: W150
    _3d: W157
    _4d: W157
    _5d: W157

class W159(Call):
    read: Call

class W160:
    global_: W86
    shared__cluster: W124
    shared__cta: W129

class W161:
    commit_group: Call
    global_: W86
    prefetch: W99
    relaxed: W118
    shared__cluster: W124
    shared__cta: W129
    tensor: W158
    wait_group: W159
    weak: W160

class W162(Call):
    L2__128B: Call
    L2__256B: Call
    L2__64B: Call

class W163(Call):
    L2__128B: Call
    L2__256B: Call
    L2__64B: Call
    L2__cache_hint: W162

class W164:
    global_: W163

class W165:
    shared: W164
    shared__cta: W164

class W166:
    b64: Call

class W167:
    b64: Call
    shared: W166
    shared__cta: W166

class W168:
    b64: Call
    noinc: W167
    shared: W166
    shared__cta: W166

class W169:
    arrive: W168

class W170:
    bulk: W161
    ca: W165
    cg: W165
    commit_group: Call
    mbarrier: W169
    wait_all: Call
    wait_group: Call

class W171:
    f32: Call
    f64: Call
    noftz: W28
    s32: Call
    u32: Call
    u64: Call

class W172:
    bf16: Call
    f16: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W173:
    add: W171
    and_: W32
    dec: W35
    inc: W35
    max: W172
    min: W172
    or_: W32
    xor: W32

class W174:
    L2__cache_hint: W173
    add: W171
    and_: W32
    dec: W35
    inc: W35
    max: W172
    min: W172
    or_: W32
    xor: W32

class W175:
    bulk_group: W174

class W176:
    shared__cta: W175

class W177:
    s32: Call
    u32: Call
    u64: Call

class W178:
    s32: Call
    u32: Call

class W179:
    add: W177
    and_: W3
    dec: W35
    inc: W35
    max: W178
    min: W178
    or_: W3
    xor: W3

class W180:
    mbarrier__complete_tx__bytes: W179

class W181:
    shared__cta: W180

class W182:
    global_: W176
    shared__cluster: W181

class W183:
    global_: W176

class W184:
    cluster: W182
    cta: W182
    gpu: W183
    sys: W183

class W185:
    add: W131
    and_: W131
    dec: W131
    inc: W131
    max: W131
    min: W131
    or_: W131
    xor: W131

class W186:
    shared__cta: W185

class W187:
    global_: W186

class W188:
    add: W151
    and_: W151
    dec: W151
    inc: W151
    max: W151
    min: W151
    or_: W151
    xor: W151

class W189:
    shared__cta: W188

class W190:
    global_: W189

class W191:
    _1d: W187
    _2d: W187
    _3d: W190
    _4d: W190
    _5d: W190

class W192:
    global_: W176
    relaxed: W184
    shared__cluster: W181
    tensor: W191

class W193:
    bulk: W192

class W194:
    async_: W193

class W195:
    async_: W170
    reduce: W194

class W196:
    L2: W166

class W197:
    L2__evict_first: W166
    L2__evict_unchanged: W166
    b64: Call

class W198:
    L2__evict_first: W197
    L2__evict_last: W197
    L2__evict_normal: W197
    L2__evict_unchanged: W197

class W199:
    L2__evict_first: W197
    L2__evict_last: W197
    L2__evict_normal: W197
    L2__evict_unchanged: W197
    global_: W198

class W200:
    cvt: W196
    fractional: W198
    range: W199

class W201:
    bf16: Call

class W202:
    f16: Call

class W203:
    bf16: Call
    f16: Call
    f32: Call

class W204:
    bf16: Call
    f16: Call
    f32: Call
    f64: Call

class W205:
    f16: Call
    f32: Call

class W206:
    f32: W205
    f64: W7

class W207:
    f32: W203
    f64: W7
    sat: W206

class W208:
    s32: Call

class W209:
    s32: W3

class W210:
    s16: W208
    s2: W209
    s4: W209
    s8: W209
    u16: W208
    u2: W209
    u4: W209
    u8: W209

class W211:
    sat: W210

class W212:
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

class W213:
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

class W214:
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W215:
    bf16: Call
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W216:
    f16: W7
    f32: W214

class W217:
    f16: W7
    f32: W214
    sat: W216

class W218:
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

class W219:
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W220:
    f16: W218
    f32: W214
    f64: W219

class W221:
    bf16: W212
    f16: W213
    f32: W214
    f64: W215
    ftz: W217
    sat: W220

class W222:
    f64: Call

class W223:
    f32: W7
    s16: W7
    s32: W7
    s64: W7
    s8: W7
    u16: W7
    u32: W7
    u64: W7
    u8: W7

class W224:
    f32: W7
    s16: W7
    s32: W7
    s64: W7
    s8: W7
    sat: W223
    u16: W7
    u32: W7
    u64: W7
    u8: W7

class W225:
    f16: Call
    f32: Call
    f64: Call

class W226:
    f16: W202
    f32: W7
    f64: W222
    s16: W225
    s32: W225
    s64: W225
    s8: W225
    u16: W225
    u32: W225
    u64: W225
    u8: W225

class W227:
    bf16: W201
    f16: W202
    f32: W7
    f64: W222
    ftz: W224
    s16: W204
    s32: W204
    s64: W204
    s8: W204
    sat: W226
    u16: W204
    u32: W204
    u64: W204
    u8: W204

class W228:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call
    s2f6x2: Call
    ue5m3x2: Call
    ue8m0x2: Call

class W229:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call
    ue5m3x2: Call

class W230:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call
    s2f6x2: Call

class W231:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call

class W232:
    bf16: W7
    bf16x2: W7
    f16: W7
    f16x2: W7

class W233:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    s2f6x2: Call

class W234:
    bf16x2: W233

class W235:
    bf16: W7
    bf16x2: W230
    f16: W7
    f16x2: W231
    satfinite: W232
    scaled__n2__ue8m0: W234
    tf32: W7

class W236:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    f32: Call
    s2f6x2: Call
    ue5m3x2: Call

class W237:
    bf16x2: Call
    f16x2: Call
    f32: Call

class W238:
    bf16x2: Call
    f32: Call

class W239:
    bf16x2: W233
    s2f6x2: W238

class W240:
    bf16x2: W233
    e2m1x2: W237
    e2m3x2: W237
    e3m2x2: W237
    e4m3x2: W237
    e5m2x2: W237
    s2f6x2: W238
    scaled__n2__ue8m0: W239
    tf32: W7

class W241:
    e2m1x2: Call
    e2m3x2: Call
    e3m2x2: Call
    e4m3x2: Call
    e5m2x2: Call
    s2f6x2: Call
    ue5m3x2: Call

class W242:
    bf16x2: W241
    s2f6x2: W238

class W243:
    bf16: W7
    bf16x2: W236
    e2m1x2: W237
    e2m3x2: W237
    e3m2x2: W237
    e4m3x2: W237
    e5m2x2: W237
    f16: W7
    f16x2: W7
    relu: W240
    s2f6x2: W238
    scaled__n2__ue8m0: W242
    tf32: W7
    ue5m3x2: W237

class W244:
    bf16x2: W241

class W245:
    bf16: W212
    bf16x2: W228
    f16: W213
    f16x2: W229
    f32: W214
    f64: W215
    ftz: W217
    relu: W235
    sat: W220
    satfinite: W243
    scaled__n2__ue8m0: W244
    tf32: W7
    ue5m3x2: W237

class W246:
    tf32: W7

class W247:
    satfinite: W246
    tf32: W7

class W248:
    ue5m3x2: W237
    ue8m0x2: W238

class W249:
    bf16: W212
    f16: W213
    f32: W214
    f64: W215
    ftz: W217
    sat: W220
    satfinite: W248
    ue5m3x2: W237
    ue8m0x2: W238

class W250:
    bf16x2: W7
    e2m1x4: W7
    e2m3x4: W7
    e3m2x4: W7
    e4m3x4: W7
    e5m2x4: W7
    f16x2: W7

class W251:
    bf16x2: W7
    f16x2: W7
    satfinite: W250

class W252:
    bf16x2: W7
    f16x2: W7
    relu: W251
    satfinite: W250

class W253:
    bf16: W7
    bf16x2: W7
    f16: W7
    f16x2: W7
    satfinite: W232
    tf32: W7

class W254:
    e2m1x2: W237
    e2m3x2: W237
    e3m2x2: W237
    e4m3x2: W237
    e5m2x2: W237
    tf32: W7

class W255:
    bf16: W7
    bf16x2: W7
    e2m1x2: W237
    e2m3x2: W237
    e3m2x2: W237
    e4m3x2: W237
    e5m2x2: W237
    f16: W7
    f16x2: W7
    relu: W254
    tf32: W7
    ue5m3x2: W237
    ue8m0x2: W238

class W256:
    bf16: W212
    bf16x2: W7
    f16: W213
    f16x2: W7
    f32: W214
    f64: W215
    ftz: W217
    relu: W253
    sat: W220
    satfinite: W255
    tf32: W7
    ue5m3x2: W237
    ue8m0x2: W238

class W257:
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W258:
    s64: Call
    u32: Call
    u64: Call

class W259:
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W260:
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u32: Call
    u64: Call

class W261:
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u64: Call

class W262:
    s16: Call
    s32: Call
    s64: Call
    s8: Call

class W263:
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call

class W264:
    f16: W202
    f32: W205
    f64: W225
    s16: W257
    s32: W258
    s64: W67
    s8: W259
    u16: W260
    u32: W261
    u64: W262
    u8: W263

class W265:
    bf16: W201
    f16: W202
    f32: W203
    f64: W204
    ftz: W207
    pack: W211
    rm: W221
    rmi: W227
    rn: W245
    rna: W247
    rni: W227
    rp: W249
    rpi: W227
    rs: W252
    rz: W256
    rzi: W227
    s16: W219
    s32: W219
    s64: W219
    s8: W219
    sat: W264
    u16: W219
    u32: W219
    u64: W219
    u8: W219

class W266:
    const: W16
    global_: W16
    local: W16
    param: W16
    param__entry: W16
    shared: W16
    shared__cluster: W16
    shared__cta: W16

class W267:
    const: W16
    global_: W16
    local: W16
    param: W16
    param__entry: W16
    shared: W16
    shared__cluster: W16
    shared__cta: W16
    to: W266

class W268:
    L2: Call

class W269:
    L2: Call
    global_: W268

class W270:
    f32: Call
    f64: Call
    ftz: W7

class W271:
    approx: W81
    full: W81
    rm: W270
    rn: W270
    rp: W270
    rz: W270
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W272:
    s32: W178
    u32: W178

class W273:
    hi: W272
    lo: W272

class W274:
    bf16: Call
    bf16x2: Call
    f32: Call

class W275:
    f16: Call
    f16x2: Call
    f32: Call
    ftz: W274

class W276:
    approx: W275

class W277:
    cluster: Call
    cta: Call
    gpu: Call
    sys: Call

class W278:
    cluster: Call

class W279:
    cluster: Call
    cta: Call
    gpu: Call
    sync_restrict__shared__cluster: W278
    sys: Call

class W280:
    release: W278

class W281:
    sys: Call

class W282(Call):
    acquire: W281
    release: W281

class W283(Call):
    global_: Call
    shared__cluster: Call
    shared__cta: Call

class W284:
    sync_restrict__shared__cluster: W278

class W285:
    sync_restrict__shared__cluster__read: W278
    sync_restrict__shared__cta: W278

class W286:
    acquire: W284
    release: W285

class W287:
    acquire: W281
    release: W281

class W288:
    alias: W287

class W289:
    acquire: W277
    release: W277

class W290:
    alias: W282
    async_: W283
    async__generic: W286
    fabric__fabric: W288
    fabric__generic: W288
    generic__fabric: W288
    tensormap__generic: W289

class W291:
    cluster: Call
    cta: Call
    gpu: Call
    sync_restrict__shared__cta: W278
    sys: Call

class W292:
    acq_rel: W277
    acquire: W279
    cluster: Call
    cta: Call
    gpu: Call
    mbarrier_init: W280
    proxy: W290
    release: W291
    sc: W277
    sys: Call

class W293:
    f16: Call
    f16x2: Call

class W294:
    f16: Call
    f16x2: Call
    f32: Call
    f32x2: Call
    relu: W293
    sat: W1

class W295:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    relu: W39

class W296:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: W5
    f32x2: Call
    f64: Call
    ftz: W294
    oob: W295
    relu: W39
    sat: W11

class W297:
    rm: W10
    rn: W296
    rp: W10
    rz: W10

class W298:
    shared__cluster: W16
    u32: Call
    u64: Call

class W299:
    launch_dependents: Call
    wait: Call

class W300:
    const: Call
    global_: Call
    local: Call
    param: Call
    param__entry: Call
    shared: Call
    shared__cluster: Call
    shared__cta: Call

class W301:
    samplerref: Call
    surfref: Call
    texref: Call

class W302:
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

class W303:
    b32: Call
    f32: Call
    s32: Call
    u32: Call

class W304:
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
    v2: W302
    v4: W302
    v8: W303

class W305:
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
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
    v2: W302
    v4: W302
    v8: W303

class W306:
    b64: Call
    f64: Call
    s64: Call
    u64: Call

class W307:
    v4: W306
    v8: W303

class W308:
    L2__128B: W307
    L2__256B: W307
    L2__64B: W307
    v4: W306
    v8: W303

class W309:
    L2__128B: W307
    L2__256B: W307
    L2__64B: W307
    L2__cache_hint: W308
    v4: W306
    v8: W303

class W310:
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
    L2__evict_first: W309
    L2__evict_last: W309
    L2__evict_normal: W309
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
    v2: W302
    v4: W302
    v8: W303

class W311:
    L1__evict_first: W310
    L1__evict_last: W310
    L1__evict_normal: W310
    L1__evict_unchanged: W310
    L1__no_allocate: W310
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
    L2__evict_first: W309
    L2__evict_last: W309
    L2__evict_normal: W309
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
    v2: W302
    v4: W302
    v8: W303

class W312:
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

class W313:
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
    v2: W302
    v4: W312

class W314:
    L1__evict_first: W310
    L1__evict_last: W310
    L1__evict_normal: W310
    L1__evict_unchanged: W310
    L1__no_allocate: W310
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
    L2__evict_first: W309
    L2__evict_last: W309
    L2__evict_normal: W309
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W311
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W313
    shared__cluster: W313
    shared__cta: W313
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303

class W315:
    cluster: W314
    cta: W314
    gpu: W314
    sys: W314

class W316:
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
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
    v2: W302
    v4: W302
    v8: W303

class W317:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    ca: W313
    cg: W313
    cs: W313
    cv: W313
    f32: Call
    f64: Call
    lu: W313
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W312

class W318:
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    nc: W316
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303

class W319:
    L1__evict_first: W310
    L1__evict_last: W310
    L1__evict_normal: W310
    L1__evict_unchanged: W310
    L1__no_allocate: W310
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
    L2__evict_first: W309
    L2__evict_last: W309
    L2__evict_normal: W309
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    ca: W318
    cg: W318
    cs: W318
    cv: W316
    f32: Call
    f64: Call
    lu: W316
    nc: W311
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303

class W320:
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

class W321:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W320
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W322:
    sys: W321

class W323:
    acquire: W322
    relaxed: W322

class W324:
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W305
    local: W313
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W313
    shared__cluster: W313
    shared__cta: W313
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303

class W325:
    L1__evict_first: W310
    L1__evict_last: W310
    L1__evict_normal: W310
    L1__evict_unchanged: W310
    L1__no_allocate: W310
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
    L2__evict_first: W309
    L2__evict_last: W309
    L2__evict_normal: W309
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    ca: W316
    cg: W316
    cs: W316
    cv: W316
    f32: Call
    f64: Call
    lu: W316
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303

class W326:
    L1__evict_first: W310
    L1__evict_last: W310
    L1__evict_normal: W310
    L1__evict_unchanged: W310
    L1__no_allocate: W310
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
    L2__evict_first: W309
    L2__evict_last: W309
    L2__evict_normal: W309
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    ca: W316
    cg: W316
    const: W317
    cs: W316
    cv: W316
    f32: Call
    f64: Call
    global_: W325
    local: W317
    lu: W316
    param: W317
    param__entry: W317
    param__func: W317
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W317
    shared__cluster: W317
    shared__cta: W317
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303

class W327:
    L1__evict_first: W310
    L1__evict_last: W310
    L1__evict_normal: W310
    L1__evict_unchanged: W310
    L1__no_allocate: W310
    L2__128B: W304
    L2__256B: W304
    L2__64B: W304
    L2__cache_hint: W305
    L2__evict_first: W309
    L2__evict_last: W309
    L2__evict_normal: W309
    acquire: W315
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    ca: W316
    cg: W316
    const: W317
    cs: W316
    cv: W316
    f32: Call
    f64: Call
    global_: W319
    local: W317
    lu: W316
    mmio: W323
    param: W317
    param__entry: W317
    param__func: W317
    relaxed: W315
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W317
    shared__cluster: W317
    shared__cta: W317
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303
    volatile: W324
    weak: W326

class W328:
    b4x16_p64: Call
    b6x16_p32: Call

class W329:
    b8: Call
    b8x16: W328

class W330:
    b8: Call
    b8x16: W328
    shared: W329
    shared__cta: W329

class W331:
    trans: W330

class W332:
    x1: W331
    x2: W331

class W333:
    b8x16: W328

class W334:
    b8x16: W328
    shared: W333
    shared__cta: W333

class W335:
    x1: W334
    x2: W334
    x4: W334

class W336:
    b16: Call

class W337:
    b16: Call
    shared: W336
    shared__cta: W336

class W338:
    b16: Call
    shared: W336
    shared__cta: W336
    trans: W337

class W339:
    x1: W338
    x2: W338
    x4: W338

class W340:
    m16n16: W332
    m8n16: W335
    m8n8: W339

class W341:
    aligned: W340

class W342:
    sync: W341

class W343:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W313
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W312

class W344:
    and_: W3
    b32: Call
    or_: W3

class W345:
    cc: W4
    s16: Call
    s32: Call
    s64: Call
    sat: W208
    u16: Call
    u32: Call
    u64: Call

class W346:
    cc: W4
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W347:
    f32: Call
    sat: W7

class W348:
    f32: Call
    f64: Call
    ftz: W347
    sat: W7

class W349:
    s16: Call
    s32: Call
    u16: Call
    u32: Call

class W350:
    hi: W345
    lo: W346
    rm: W348
    rn: W348
    rp: W348
    rz: W348
    wide: W349

class W351:
    s32: Call
    sat: W208
    u32: Call

class W352:
    hi: W351
    lo: W178

class W353:
    hi: W15
    lo: W15

class W354:
    sync: W32

class W355:
    all: W354
    any: W354

class W356:
    abs: W27

class W357:
    abs: W7
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    xorsign: W356

class W358:
    abs: W1

class W359:
    abs: W7
    f16: Call
    f16x2: Call
    f32: Call
    xorsign: W358

class W360:
    NaN: W359
    abs: W7
    f16: Call
    f16x2: Call
    f32: Call
    xorsign: W358

class W361:
    s16x2: Call
    s32: Call
    s8x4: Call

class W362(Call):
    relu: Call

class W363:
    NaN: W357
    abs: W7
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W360
    relu: W361
    s16: Call
    s16x2: W362
    s32: W362
    s64: Call
    s8x4: Call
    u16: Call
    u16x2: Call
    u32: Call
    u64: Call
    u8x4: Call
    xorsign: W356

class W364:
    b64: Call
    multicast__cluster__32b: W166

class W365:
    b64: Call
    multicast__cluster__32b: W166
    shared: W166
    shared__cluster: W364
    shared__cta: W166

class W366:
    cluster: W365
    cta: W365

class W367:
    b64: Call
    multicast__cluster__32b: W166
    relaxed: W366
    release: W366
    shared: W166
    shared__cluster: W364
    shared__cta: W166

class W368:
    cta: W167

class W369:
    b64: Call
    release: W368
    shared: W166
    shared__cta: W166

class W370:
    b64: Call
    expect_tx: W367
    multicast__cluster__32b: W166
    noComplete: W369
    relaxed: W366
    release: W366
    shared: W166
    shared__cluster: W364
    shared__cta: W166

class W371:
    layout__v0: W167
    layout__v1: W167

class W372:
    b64: Call
    multicast__cluster__32b: W166
    relaxed: W366
    shared: W166
    shared__cluster: W364
    shared__cta: W166

class W373:
    b64: Call
    layout__v0: W167
    layout__v1: W167
    shared: W166
    shared__cta: W166

class W374:
    b64: Call
    layout__v0: W166

class W375:
    cluster: W167
    cta: W167

class W376:
    acquire: W375
    b64: Call
    relaxed: W375
    shared: W166
    shared__cta: W166

class W377:
    acquire: W375
    b64: Call
    phase_type__conditional: W376
    phase_type__primary: W376
    relaxed: W375
    shared: W166
    shared__cta: W166

class W378:
    acquire: W375
    b64: Call
    parity: W377
    phase_type__primary: W376
    relaxed: W375
    shared: W166
    shared__cta: W166

class W379:
    arrive: W370
    arrive_drop: W370
    check_layout: W371
    complete_tx: W372
    expect_tx: W372
    init: W373
    inval: W167
    pending_count: W374
    test_wait: W378
    try_wait: W378

class W380:
    alias: Call
    async_: Call

class W381:
    cta: Call
    gl: Call
    proxy: W380
    sys: Call

class W382:
    s4: W208
    u4: W208

class W383:
    s4: W382
    u4: W382

class W384:
    s32: W383

class W385:
    s32: W383
    satfinite: W384

class W386:
    col: W385

class W387:
    row: W386

class W388:
    f16: W202

class W389:
    f16: W388

class W390:
    bf16: W7

class W391:
    f16: W7

class W392:
    bf16: W390
    f16: W391
    tf32: W246

class W393:
    f16: W389
    f32: W392

class W394:
    col: W393

class W395:
    row: W394

class W396:
    bf16: W390
    f16: W391

class W397:
    s8: W208
    u8: W208

class W398:
    s8: W397
    u8: W397

class W399:
    s32: W398

class W400:
    f16: W389
    f32: W396
    s32: W398
    satfinite: W399

class W401:
    col: W400

class W402:
    row: W401

class W403:
    e4m3: W7
    e5m2: W7

class W404:
    e4m3: W403
    e5m2: W403

class W405:
    s4: W382
    s8: W397
    u4: W382
    u8: W397

class W406:
    s32: W405

class W407:
    f32: W404
    s32: W405
    satfinite: W406

class W408:
    col: W407

class W409:
    row: W408

class W410:
    tf32: W246

class W411:
    f32: W410

class W412:
    col: W411

class W413:
    row: W412

class W414:
    m16n8k128: W387
    m16n8k16: W395
    m16n8k32: W402
    m16n8k64: W409
    m16n8k8: W413

class W415:
    aligned: W414

class W416:
    sync: W415

class W417:
    e2m1: W202
    e2m3: W202
    e3m2: W202
    e4m3: W202
    e5m2: W202

class W418:
    e2m1: W417
    e2m3: W417
    e3m2: W417
    e4m3: W417
    e5m2: W417

class W419:
    e2m1: W7
    e2m3: W7
    e3m2: W7
    e4m3: W7
    e5m2: W7

class W420:
    e2m1: W419
    e2m3: W419
    e3m2: W419
    e4m3: W419
    e5m2: W419

class W421:
    f16: W418
    f32: W420

class W422:
    col: W421

class W423:
    row: W422

class W424:
    m16n8k64: W423

class W425:
    ue8m0: Call

class W426:
    f32: W425

class W427:
    e2m1: W426

class W428:
    e2m1: W427

class W429:
    f32: W428

class W430:
    col: W429

class W431:
    row: W430

class W432:
    m16n8k128: W431

class W433:
    m16n8k128: W431
    scale_vec__2X: W432

class W434:
    block_scale: W433

class W435:
    ue4m3: Call
    ue8m0: Call

class W436:
    f32: W435

class W437:
    e2m1: W436

class W438:
    e2m1: W437

class W439:
    f32: W438

class W440:
    col: W439

class W441:
    row: W440

class W442:
    m16n8k128: W441

class W443:
    scale_vec__2X: W432
    scale_vec__4X: W442

class W444:
    block_scale: W443

class W445:
    e2m1: W426
    e2m3: W426
    e3m2: W426
    e4m3: W426
    e5m2: W426

class W446:
    e2m1: W445
    e2m3: W445
    e3m2: W445
    e4m3: W445
    e5m2: W445

class W447:
    f32: W446

class W448:
    col: W447

class W449:
    row: W448

class W450:
    m16n8k64: W449

class W451:
    m16n8k64: W449
    scale_vec__1X: W450

class W452:
    block_scale: W451

class W453:
    f32: W428
    scale_vec__2X: W429

class W454:
    block_scale: W453

class W455:
    scale_vec__2X: W429
    scale_vec__4X: W439

class W456:
    block_scale: W455

class W457:
    kind__mxf4: W454
    kind__mxf4nvf4: W456
    s32: W383
    satfinite: W384

class W458:
    col: W457

class W459:
    row: W458

class W460:
    e4m3: W202
    e5m2: W202

class W461:
    e4m3: W460
    e5m2: W460

class W462:
    f32: W446
    scale_vec__1X: W447

class W463:
    block_scale: W462

class W464:
    f16: W461
    f32: W404
    kind__f8f6f4: W421
    kind__mxf8f6f4: W463
    s32: W405
    satfinite: W406

class W465:
    col: W464

class W466:
    row: W465

class W467:
    kind__f8f6f4: W424
    kind__mxf4: W434
    kind__mxf4nvf4: W444
    kind__mxf8f6f4: W452
    m16n8k128: W459
    m16n8k16: W395
    m16n8k32: W402
    m16n8k64: W466
    m16n8k8: W413

class W468:
    aligned: W467

class W469:
    sync: W468

class W470:
    m16n8k32: W423

class W471:
    m16n8k64: W431

class W472:
    m16n8k64: W431
    scale_vec__2X: W471

class W473:
    block_scale: W472

class W474:
    m16n8k64: W441

class W475:
    scale_vec__2X: W471
    scale_vec__4X: W474

class W476:
    block_scale: W475

class W477:
    m16n8k32: W449

class W478:
    m16n8k32: W449
    scale_vec__1X: W477

class W479:
    block_scale: W478

class W480:
    popc: Call

class W481:
    and_: W480
    xor: W480

class W482:
    s32: W481

class W483:
    b1: W482

class W484:
    b1: W483

class W485:
    s32: W484

class W486:
    col: W485

class W487:
    row: W486

class W488:
    e4m3: W460
    e5m2: W460
    f16: W388

class W489:
    bf16: W390
    e4m3: W403
    e5m2: W403
    f16: W391

class W490:
    f64: W222

class W491:
    f64: W490

class W492:
    f16: W488
    f32: W489
    f64: W491
    s32: W398
    satfinite: W399

class W493:
    col: W492

class W494:
    row: W493

class W495:
    f32: W410
    f64: W491

class W496:
    col: W495

class W497:
    row: W496

class W498:
    f16: W389
    f32: W392
    f64: W491

class W499:
    col: W498

class W500:
    row: W499

class W501:
    s32: W398
    satfinite: W399

class W502:
    col: W501

class W503:
    row: W502

class W504:
    f16: W205

class W505:
    f16: W504

class W506:
    f16: W389
    f32: W505

class W507:
    col: W506
    row: W506

class W508:
    f16: W389
    f32: W505
    f64: W491

class W509:
    col: W508
    row: W506

class W510:
    col: W507
    row: W509

class W511:
    kind__f8f6f4: W470
    kind__mxf4: W473
    kind__mxf4nvf4: W476
    kind__mxf8f6f4: W479
    m16n8k128: W487
    m16n8k16: W494
    m16n8k256: W487
    m16n8k32: W466
    m16n8k4: W497
    m16n8k64: W459
    m16n8k8: W500
    m8n8k128: W487
    m8n8k16: W503
    m8n8k32: W387
    m8n8k4: W510

class W512:
    aligned: W511

class W513:
    sp: W416
    sp__ordered_metadata: W469
    sync: W512

class W514:
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

class W515:
    trans: W336

class W516:
    m8n8: W515

class W517:
    aligned: W516

class W518:
    sync: W517

class W519:
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W520:
    f32: Call
    f32x2: Call
    f64: Call
    ftz: W8
    sat: W7

class W521:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f32x2: Call
    f64: Call
    ftz: W6
    sat: W1

class W522:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f32x2: Call
    f64: Call
    ftz: W6
    hi: W519
    lo: W519
    rm: W520
    rn: W521
    rp: W520
    rz: W520
    sat: W1
    wide: W349

class W523:
    hi: W178
    lo: W178

class W524:
    bulk_group: W83

class W525:
    shared__cta: W524

class W526:
    bulk_group: W100

class W527:
    shared__cta: W526

class W528:
    global_: W527

class W529:
    cluster: W528
    cta: W528
    gpu: W528
    sys: W528

class W530:
    global_: W525

class W531:
    global_: W525
    relaxed: W529
    weak: W530

class W532:
    bulk: W531

class W533:
    bulk_group: W173

class W534:
    shared__cta: W533

class W535:
    global_: W534

class W536:
    cluster: W535
    cta: W535
    gpu: W535
    sys: W535

class W537:
    global_: W534
    relaxed: W536

class W538:
    bulk: W537

class W539:
    async_: W538

class W540:
    async_: W532
    reduce: W539

class W541:
    e4m3x2: Call
    e4m3x4: Call
    e5m2x2: Call
    e5m2x4: Call

class W542:
    e4m3: Call
    e4m3x2: Call
    e4m3x4: Call
    e5m2: Call
    e5m2x2: Call
    e5m2x4: Call

class W543:
    e4m3: Call
    e4m3x2: Call
    e5m2: Call
    e5m2x2: Call

class W544:
    e4m3x4: Call
    e5m2x4: Call
    v2: W541
    v4: W542
    v8: W543

class W545:
    bf16x2: Call
    f16x2: Call
    v2: W39
    v4: W39
    v8: W28

class W546:
    bf16: Call
    bf16x2: Call
    e4m3x2: Call
    e4m3x4: Call
    e5m2x2: Call
    e5m2x4: Call
    f16: Call
    f16x2: Call
    f32: Call

class W547:
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

class W548:
    bf16: Call
    e4m3: Call
    e4m3x2: Call
    e5m2: Call
    e5m2x2: Call
    f16: Call

class W549:
    acc__f16: W544
    acc__f32: W545
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    f32: Call
    f64: Call
    s32: Call
    u32: Call
    u64: Call
    v2: W546
    v4: W547
    v8: W548

class W550:
    bf16: Call
    bf16x2: Call
    e4m3x2: Call
    e4m3x4: Call
    e5m2x2: Call
    e5m2x4: Call
    f16: Call
    f16x2: Call

class W551:
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

class W552:
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W550
    v4: W551
    v8: W548

class W553:
    add: W549
    and_: W32
    max: W552
    min: W552
    or_: W32
    xor: W32

class W554:
    add: W549
    and_: W32
    global_: W553
    max: W552
    min: W552
    or_: W32
    xor: W32

class W555:
    cluster: W554
    cta: W554
    gpu: W554
    sys: W554

class W556:
    acquire: W555
    add: W549
    and_: W32
    global_: W553
    max: W552
    min: W552
    or_: W32
    relaxed: W555
    weak: W554
    xor: W32

class W557:
    bf16x2: Call
    f16x2: Call
    f32: Call
    f64: Call
    s32: Call
    u32: Call
    u64: Call
    v2: W27
    v4: W27
    v8: W28

class W558:
    add: W177

class W559:
    add: W177
    global_: W558

class W560:
    gpu: W559
    sys: W559

class W561:
    release: W560

class W562:
    add: W557
    and_: W32
    max: W4
    min: W4
    or_: W32
    xor: W32

class W563:
    add: W557
    and_: W32
    global_: W562
    max: W4
    min: W4
    or_: W32
    xor: W32

class W564:
    cluster: W563
    cta: W563
    gpu: W563
    sys: W563

class W565:
    add: W557
    and_: W32
    async_: W561
    global_: W562
    max: W4
    min: W4
    or_: W32
    relaxed: W564
    release: W564
    xor: W32

class W566:
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W302
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    u16: Call
    u32: Call
    u64: Call
    u8: Call

class W567:
    gpu: W566
    sys: W566

class W568:
    release: W567

class W569:
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
    v2: W546
    v4: W547
    v8: W548

class W570:
    b32: Call
    b64: Call
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    f32: Call
    f64: Call
    global_: W569
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W546
    v4: W547
    v8: W548

class W571:
    cluster: W570
    cta: W570
    gpu: W570
    sys: W570

class W572:
    async_: W568
    b32: Call
    b64: Call
    bf16x2: Call
    e4m3x4: Call
    e5m2x4: Call
    f16x2: Call
    f32: Call
    f64: Call
    global_: W569
    relaxed: W571
    release: W571
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W546
    v4: W547
    v8: W548
    weak: W570

class W573:
    cp: W540
    ld_reduce: W556
    red: W565
    st: W572

class W574:
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

class W575(Call):
    mask: Call

class W576:
    valid_addr: Call

class W577:
    tensormap: Call

class W578:
    L1: Call
    L2: Call
    L2__evict_last: Call
    L2__evict_normal: Call

class W579:
    L1: Call
    L2: Call

class W580:
    L1: Call
    L1__32B: W576
    L2: Call
    const: W577
    global_: W578
    local: W579
    param: W577
    tensormap: Call

class W581:
    L1: Call

class W582(Call):
    b4e: Call
    ecl: Call
    ecr: Call
    f4e: Call
    rc16: Call
    rc8: Call

class W583:
    b32: W582

class W584:
    f32: Call
    ftz: W80

class W585:
    approx: W584
    rm: W270
    rn: W270
    rp: W270
    rz: W270

class W586:
    add: W4

class W587:
    add: W4
    global_: W586

class W588:
    sys: W587

class W589:
    release: W588

class W590:
    mbarrier__complete_tx__bytes: W179
    shared__cluster: W180

class W591:
    cluster: W590

class W592:
    gpu: W587
    sys: W587

class W593:
    mmio: W589
    relaxed: W591
    release: W592

class W594:
    add: W31
    and_: W33
    dec: W36
    inc: W36
    max: W42
    min: W42
    or_: W33
    xor: W33

class W595:
    add: W44
    and_: W32
    dec: W35
    inc: W35
    max: W4
    min: W4
    or_: W32
    xor: W32

class W596:
    add: W31
    and_: W33
    dec: W36
    global_: W594
    inc: W36
    max: W42
    min: W42
    or_: W33
    shared: W595
    shared__cluster: W595
    shared__cta: W595
    xor: W33

class W597:
    add: W31
    and_: W33
    cluster: W596
    cta: W596
    dec: W36
    global_: W594
    gpu: W596
    inc: W36
    max: W42
    min: W42
    or_: W33
    shared: W595
    shared__cluster: W595
    shared__cta: W595
    sys: W596
    xor: W33

class W598:
    add: W31
    and_: W33
    async_: W593
    cluster: W596
    cta: W596
    dec: W36
    global_: W594
    gpu: W596
    inc: W36
    max: W42
    min: W42
    or_: W33
    relaxed: W597
    release: W597
    shared: W595
    shared__cluster: W595
    shared__cta: W595
    sys: W596
    xor: W33

class W599:
    NaN: W7
    f32: Call

class W600:
    NaN: W7
    abs: W599
    f32: Call
    s32: Call
    u32: Call

class W601:
    add: W178
    and_: W3
    max: W600
    min: W600
    or_: W3
    xor: W3

class W602:
    sync: W601

class W603:
    f32: Call
    f64: Call
    ftz: W80

class W604:
    approx: W603

class W605:
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

class W606:
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

class W607:
    bf16x2: Call

class W608:
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

class W609:
    f16x2: Call

class W610:
    f16: W205
    f16x2: W609
    f32: W7
    s16: W202
    s32: W1
    u16: W202
    u32: W1

class W611:
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

class W612:
    bf16: W606
    bf16x2: W607
    f16: W608
    f16x2: W609
    f32: W605
    ftz: W610
    s16: W28
    s32: W611
    u16: W28
    u32: W611

class W613:
    and_: W612
    bf16: W606
    bf16x2: W607
    f16: W608
    f16x2: W609
    f32: W605
    ftz: W610
    or_: W612
    s16: W28
    s32: W611
    u16: W28
    u32: W611
    xor: W612

class W614:
    bf16: Call
    f32: Call
    f64: Call

class W615:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call

class W616:
    bf16: W614
    bf16x2: W607
    f16: W225
    f16x2: W609
    f32: W80
    ftz: W610
    s16: W28
    s32: W615
    u16: W28
    u32: W615

class W617:
    and_: W616
    bf16: W614
    bf16x2: W607
    f16: W225
    f16x2: W609
    f32: W80
    ftz: W610
    or_: W616
    s16: W28
    s32: W615
    u16: W28
    u32: W615
    xor: W616

class W618:
    bf16: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W619:
    f16: Call
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W620:
    f32: Call
    f64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W621:
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

class W622:
    bf16: W618
    bf16x2: W607
    f16: W619
    f16x2: W609
    f32: W620
    ftz: W610
    s16: W28
    s32: W621
    u16: W28
    u32: W621

class W623:
    and_: W622
    bf16: W618
    bf16x2: W607
    f16: W619
    f16x2: W609
    f32: W620
    ftz: W610
    or_: W622
    s16: W28
    s32: W621
    u16: W28
    u32: W621
    xor: W622

class W624:
    u16: Call
    u32: Call
    u64: Call

class W625:
    bf16: W624
    f16: W624
    f32: W624
    s32: W624
    u32: W624

class W626:
    and_: W625
    bf16: W624
    f16: W624
    f32: W624
    or_: W625
    s32: W624
    u32: W624
    xor: W625

class W627:
    eq: W613
    equ: W617
    ge: W623
    geu: W617
    gt: W623
    gtu: W617
    hi: W626
    hs: W626
    le: W623
    leu: W617
    lo: W626
    ls: W626
    lt: W623
    ltu: W617
    nan: W617
    ne: W613
    neu: W617
    num: W617

class W628:
    aligned: W35

class W629:
    sync: W628

class W630:
    dec: W629
    inc: W629

class W631:
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

class W632:
    and_: W631
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
    or_: W631
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call
    xor: W631

class W633:
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1

class W634:
    and_: W633
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    or_: W633
    xor: W633

class W635:
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

class W636:
    and_: W635
    bf16: Call
    bf16x2: Call
    f16: Call
    f16x2: Call
    f32: Call
    f64: Call
    ftz: W1
    or_: W635
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call
    xor: W635

class W637:
    and_: W624
    or_: W624
    u16: Call
    u32: Call
    u64: Call
    xor: W624

class W638:
    eq: W632
    equ: W634
    ge: W636
    geu: W634
    gt: W636
    gtu: W634
    hi: W637
    hs: W637
    le: W636
    leu: W634
    lo: W637
    ls: W637
    lt: W636
    ltu: W634
    nan: W634
    ne: W632
    neu: W634
    num: W634

class W639:
    l: W64
    r: W64

class W640:
    bfly: W3
    down: W3
    idx: W3
    up: W3

class W641:
    bfly: W3
    down: W3
    idx: W3
    sync: W640
    up: W3

class W642:
    b16: Call
    b32: Call
    b64: Call
    s16: Call
    s32: Call
    s64: Call
    u16: Call
    u32: Call
    u64: Call

class W643:
    f32: Call
    s32: Call

class W644:
    b16: W7
    b32: W7
    b64: W7
    f32: W7
    f64: W7
    s16: W7
    s32: W7
    s64: W7
    u16: W7
    u32: W7
    u64: W7

class W645:
    b16: W643
    b32: W643
    b64: W643
    f32: W643
    f64: W643
    ftz: W644
    s16: W643
    s32: W643
    s64: W643
    u16: W643
    u32: W643
    u64: W643

class W646:
    approx: W81
    rm: W270
    rn: W270
    rp: W270
    rz: W270

class W647:
    L2__cache_hint: W307
    v4: W306
    v8: W303

class W648:
    L2__cache_hint: W304
    L2__evict_first: W647
    L2__evict_last: W647
    L2__evict_normal: W647
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
    v2: W302
    v4: W302
    v8: W303

class W649:
    b32: Call
    b64: Call
    f32: Call
    f64: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call

class W650:
    b128: Call
    b32: Call
    b64: Call
    f32: Call
    f64: Call
    s32: Call
    s64: Call
    u32: Call
    u64: Call
    v2: W649
    v4: W303

class W651:
    mbarrier__complete_tx__bytes: W650

class W652:
    mbarrier__complete_tx__bytes: W650
    shared__cluster: W651

class W653:
    sys: W566

class W654:
    release: W653

class W655:
    cluster: W652
    mbarrier__complete_tx__bytes: W650
    mmio: W654
    release: W567
    shared__cluster: W651
    weak: W652

class W656(Call):
    shared__cta: Call

class W657(Call):
    shared__cta: Call
    weak: W656

class W658:
    L2__cache_hint: W304
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
    v2: W302
    v4: W302
    v8: W303

class W659:
    L1__evict_first: W648
    L1__evict_last: W648
    L1__evict_normal: W648
    L1__evict_unchanged: W648
    L1__no_allocate: W648
    L2__cache_hint: W304
    L2__evict_first: W647
    L2__evict_last: W647
    L2__evict_normal: W647
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    cg: W658
    cs: W658
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
    v2: W302
    v4: W302
    v8: W303
    wb: W658
    wt: W658

class W660:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    cg: W313
    cs: W313
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
    v2: W302
    v4: W312
    wb: W313
    wt: W313

class W661:
    relaxed: W322
    release: W322

class W662:
    L1__evict_first: W648
    L1__evict_last: W648
    L1__evict_normal: W648
    L1__evict_unchanged: W648
    L1__no_allocate: W648
    L2__cache_hint: W304
    L2__evict_first: W647
    L2__evict_last: W647
    L2__evict_normal: W647
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
    v2: W302
    v4: W302
    v8: W303

class W663:
    L1__evict_first: W648
    L1__evict_last: W648
    L1__evict_normal: W648
    L1__evict_unchanged: W648
    L1__no_allocate: W648
    L2__cache_hint: W304
    L2__evict_first: W647
    L2__evict_last: W647
    L2__evict_normal: W647
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W662
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W313
    shared__cluster: W313
    shared__cta: W313
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303

class W664:
    cluster: W663
    cta: W663
    gpu: W663
    sys: W663

class W665:
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    f32: Call
    f64: Call
    global_: W304
    local: W313
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W313
    shared__cluster: W313
    shared__cta: W313
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303

class W666:
    L1__evict_first: W648
    L1__evict_last: W648
    L1__evict_normal: W648
    L1__evict_unchanged: W648
    L1__no_allocate: W648
    L2__cache_hint: W304
    L2__evict_first: W647
    L2__evict_last: W647
    L2__evict_normal: W647
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    cg: W658
    cs: W658
    f32: Call
    f64: Call
    global_: W659
    local: W660
    param: W660
    param__func: W660
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W660
    shared__cluster: W660
    shared__cta: W660
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303
    wb: W658
    wt: W658

class W667:
    L1__evict_first: W648
    L1__evict_last: W648
    L1__evict_normal: W648
    L1__evict_unchanged: W648
    L1__no_allocate: W648
    L2__cache_hint: W304
    L2__evict_first: W647
    L2__evict_last: W647
    L2__evict_normal: W647
    async_: W655
    b128: Call
    b16: Call
    b32: Call
    b64: Call
    b8: Call
    bulk: W657
    cg: W658
    cs: W658
    f32: Call
    f64: Call
    global_: W659
    local: W660
    mmio: W661
    param: W660
    param__func: W660
    relaxed: W664
    release: W664
    s16: Call
    s32: Call
    s64: Call
    s8: Call
    shared: W660
    shared__cluster: W660
    shared__cta: W660
    u16: Call
    u32: Call
    u64: Call
    u8: Call
    v2: W302
    v4: W302
    v8: W303
    volatile: W665
    wb: W658
    weak: W666
    wt: W658

class W668:
    b8: Call

class W669:
    b8: Call
    shared: W668
    shared__cta: W668

class W670:
    trans: W669

class W671:
    x1: W670
    x2: W670
    x4: W670

class W672:
    m16n8: W671
    m8n8: W339

class W673:
    aligned: W672

class W674:
    sync: W673

class W675:
    f16: Call
    f16x2: Call
    f32: W5
    s32: Call
    s8x4: Call
    u8x4: Call

class W676:
    bf16: Call
    bf16x2: Call
    cc: W4
    f16: Call
    f16x2: Call
    f32: W5
    f32x2: Call
    f64: Call
    ftz: W6
    rm: W10
    rn: W12
    rp: W10
    rz: W10
    s16: Call
    s32: Call
    s64: Call
    s8x4: Call
    sat: W675
    u16: Call
    u32: Call
    u64: Call
    u8x4: Call

class W677:
    clamp: Call
    trap: Call
    zero: Call

class W678:
    b16: W677
    b32: W677
    b64: W677
    b8: W677

class W679:
    b16: W677
    b32: W677
    b8: W677

class W680:
    b16: W677
    b32: W677
    b64: W677
    b8: W677
    v2: W678
    v4: W679

class W681:
    b16: W677
    b32: W677
    b64: W677
    b8: W677
    ca: W680
    cg: W680
    cs: W680
    cv: W680
    v2: W678
    v4: W679

class W682:
    _1d: W681
    _2d: W681
    _3d: W681
    a1d: W681
    a2d: W681

class W683:
    b: W682

class W684:
    array_size: W3
    channel_data_type: W3
    channel_order: W3
    depth: W3
    height: W3
    memory_layout: W3
    width: W3

class W685:
    s32: W677
    u32: W677
    u64: W677

class W686:
    _1d: W685
    _2d: W685
    _3d: W685

class W687:
    b32: W677

class W688:
    _1d: W687
    _2d: W687
    _3d: W687

class W689:
    s32: W677
    s64: W677
    u32: W677
    u64: W677

class W690:
    _1d: W689
    _2d: W689
    _3d: W689

class W691:
    add: W686
    and_: W688
    max: W690
    min: W690
    or_: W688

class W692:
    b32: W677
    b64: W677

class W693:
    _1d: W692
    _2d: W692
    _3d: W692

class W694:
    add: W688
    and_: W688
    max: W693
    min: W693
    or_: W688

class W695:
    b: W691
    p: W694

class W696:
    b16: W677
    b32: W677
    b64: W677
    b8: W677
    cg: W680
    cs: W680
    v2: W678
    v4: W679
    wb: W680
    wt: W680

class W697:
    _1d: W696
    _2d: W696
    _3d: W696
    a1d: W696
    a2d: W696

class W698:
    b32: W677
    v2: W687
    v4: W687

class W699:
    _1d: W698
    _2d: W698
    _3d: W698

class W700:
    b: W697
    p: W699

class W701:
    clamp: W178
    wrap: W178

class W702:
    approx: W27

class W703:
    b32: Call
    shared__cta: W3

class W704:
    aligned: W703

class W705:
    sync: W704

class W706:
    cta_group__1: W705
    cta_group__2: W705

class W707:
    b64: Call
    multicast__cluster: W166

class W708:
    b64: Call
    multicast__cluster: W166
    shared__cluster: W707

class W709:
    mbarrier__arrive__one: W708

class W710:
    cta_group__1: W709
    cta_group__2: W709

class W711(Call):
    b8x16: W328

class W712:
    warpx4: W711

class W713:
    warpx2__01_23: W711
    warpx2__02_13: W711

class W714:
    _128x128b: W711
    _128x256b: W711
    _32x128b: W712
    _4x256b: W711
    _64x128b: W713

class W715:
    cta_group__1: W714
    cta_group__2: W714

class W716:
    aligned: W3

class W717:
    sync: W716

class W718:
    cta_group__1: W717
    cta_group__2: W717

class W719:
    max: W600
    min: W600

class W720:
    x128: W719
    x16: W719
    x2: W719
    x32: W719
    x4: W719
    x64: W719
    x8: W719

class W721:
    _16x32bx2: W720
    _32x32b: W720

class W722:
    aligned: W721

class W723:
    sync: W722

class W724:
    b32: Call
    pack__16b: W3

class W725:
    x1: W724
    x16: W724
    x2: W724
    x32: W724
    x4: W724
    x64: W724
    x8: W724

class W726:
    x1: W724
    x16: W724
    x2: W724
    x32: W724
    x4: W724
    x8: W724

class W727:
    x1: W724
    x128: W724
    x16: W724
    x2: W724
    x32: W724
    x4: W724
    x64: W724
    x8: W724

class W728:
    _16x128b: W725
    _16x256b: W726
    _16x32bx2: W727
    _16x64b: W727
    _32x32b: W727

class W729:
    aligned: W728

class W730:
    red: W723
    sync: W729

class W731(Call):
    collector__a__discard: Call
    collector__a__lastuse: Call

class W732(Call):
    ashift: W731
    collector__a__discard: Call
    collector__a__fill: Call
    collector__a__lastuse: Call
    collector__a__use: Call

class W733(Call):
    collector__a__discard: Call
    collector__a__fill: Call
    collector__a__lastuse: Call
    collector__a__use: Call

class W734(Call):
    block32: W733
    collector__a__discard: Call
    collector__a__fill: Call
    collector__a__lastuse: Call
    collector__a__use: Call
    scale_vec__2X: W733

class W735:
    block_scale: W734

class W736:
    block16: W733
    block32: W733
    scale_vec__2X: W733
    scale_vec__4X: W733

class W737:
    block_scale: W736

class W738(Call):
    block32: W733
    collector__a__discard: Call
    collector__a__fill: Call
    collector__a__lastuse: Call
    collector__a__use: Call
    scale_vec__1X: W733

class W739:
    block_scale: W738

class W740:
    kind__f16: W732
    kind__f8f6f4: W732
    kind__i8: W732
    kind__mxf4: W735
    kind__mxf4nvf4: W737
    kind__mxf8f6f4: W739
    kind__tf32: W732

class W741:
    cta_group__1: W740
    cta_group__2: W740

class W742(Call):
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

class W743:
    kind__f16: W742
    kind__f8f6f4: W742
    kind__i8: W742
    kind__tf32: W742

class W744:
    cta_group__1: W743

class W745:
    cta_group__1: W743
    sp: W744

class W746:
    cta_group__1: W740
    cta_group__2: W740
    sp: W741
    ws: W745

class W747:
    aligned: Call

class W748:
    sync: W747

class W749:
    cta_group__1: W748
    cta_group__2: W748

class W750:
    down: Call

class W751:
    cta_group__1: W750
    cta_group__2: W750

class W752:
    b32: Call
    unpack__16b: W3

class W753:
    x1: W752
    x16: W752
    x2: W752
    x32: W752
    x4: W752
    x64: W752
    x8: W752

class W754:
    x1: W752
    x16: W752
    x2: W752
    x32: W752
    x4: W752
    x8: W752

class W755:
    x1: W752
    x128: W752
    x16: W752
    x2: W752
    x32: W752
    x4: W752
    x64: W752
    x8: W752

class W756:
    _16x128b: W753
    _16x256b: W754
    _16x32bx2: W755
    _16x64b: W755
    _32x32b: W755

class W757:
    aligned: W756

class W758:
    sync: W757

class W759:
    alloc: W706
    commit: W710
    cp: W715
    dealloc: W718
    fence__after_thread_sync: Call
    fence__before_thread_sync: Call
    ld: W730
    mma: W746
    relinquish_alloc_permit: W749
    shift: W751
    st: W758
    wait__ld: W748
    wait__st: W748

class W760:
    cluster: W748
    cta: W748
    gpu: W748
    sys: W748

class W761:
    release: W760

class W762:
    tensormap__generic: W761

class W763:
    shared__cta: W762

class W764:
    global_: W763

class W765:
    b1024: W3

class W766:
    b1024: W3
    global_: W765
    shared__cta: W765

class W767:
    b1024: W166

class W768:
    b1024: W166
    global_: W767
    shared__cta: W767

class W769:
    box_dim: W766
    element_stride: W766
    elemtype: W766
    fill_mode: W766
    global_address: W768
    global_dim: W766
    global_stride: W768
    interleave_layout: W766
    rank: W766
    swizzle_atomicity: W766
    swizzle_mode: W766

class W770:
    tile: W769

class W771:
    cp_fenceproxy: W764
    replace: W770

class W772:
    finite: W80
    infinite: W80
    normal: W80
    notanumber: W80
    number: W80
    subnormal: W80

class W773:
    f16x2: W643

class W774:
    f16: W643
    f32: W643
    s32: W643
    u32: W643

class W775:
    v2: W773
    v4: W774

class W776:
    f16x2: W208

class W777:
    f16: W208
    f32: W208
    s32: W208
    u32: W208

class W778:
    v2: W776
    v4: W777

class W779:
    f16x2: W7

class W780:
    f16: W7
    f32: W7
    s32: W7
    u32: W7

class W781:
    v2: W779
    v4: W780

class W782:
    _1d: W775
    _2d: W775
    _2dms: W778
    _3d: W775
    a1d: W775
    a2d: W775
    a2dms: W778
    acube: W781
    cube: W781

class W783:
    _1d: W775
    _2d: W775
    _3d: W775
    a1d: W775
    a2d: W775
    acube: W781
    cube: W781

class W784:
    _1d: W775
    _2d: W775
    _2dms: W778
    _3d: W775
    a1d: W775
    a2d: W775
    a2dms: W778
    acube: W781
    base: W782
    cube: W781
    grad: W783
    level: W783

class W785:
    f32: W7
    s32: W7
    u32: W7

class W786:
    v4: W785

class W787:
    _2d: W786
    a2d: W786
    acube: W786
    cube: W786

class W788:
    a: W787
    b: W787
    g: W787
    r: W787

class W789:
    depth: W3
    height: W3
    width: W3

class W790:
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
    level: W789
    normalized_coords: W3
    num_mipmap_levels: W3
    num_samples: W3
    width: W3

class W791(Call):
    add: Call
    max: Call
    min: Call

class W792(Call):
    add: Call
    max: Call
    min: Call
    sat: W791

class W793:
    s32: W792
    u32: W792

class W794:
    s32: W793
    u32: W793

class W795:
    s32: W794
    u32: W794

class W796(Call):
    add: Call
    sat: Call

class W797:
    s32: W796
    u32: W796

class W798:
    s32: W797
    u32: W797

class W799:
    s32: W798
    u32: W798

class W800(Call):
    shr15: Call
    shr7: Call

class W801(Call):
    sat: W800
    shr15: Call
    shr7: Call

class W802(Call):
    po: W801
    sat: W800
    shr15: Call
    shr7: Call

class W803:
    s32: W802
    u32: W802

class W804:
    s32: W803
    u32: W803

class W805:
    s32: W804
    u32: W804

class W806:
    all: W49
    any: W49
    ballot: W3
    uni: W49

class W807:
    all: W49
    any: W49
    ballot: W3
    sync: W806
    uni: W49

class W808:
    eq: W791
    ge: W791
    gt: W791
    le: W791
    lt: W791
    ne: W791

class W809:
    s32: W808
    u32: W808

class W810:
    s32: W809
    u32: W809

class W811(Call):
    add: Call

class W812:
    eq: W811
    ge: W811
    gt: W811
    le: W811
    lt: W811
    ne: W811

class W813:
    s32: W812
    u32: W812

class W814:
    s32: W813
    u32: W813

class W815:
    clamp: W791
    wrap: W791

class W816:
    clamp: W791
    sat: W815
    wrap: W791

class W817:
    u32: W816

class W818:
    s32: W817
    u32: W817

class W819:
    s32: W818
    u32: W818

class W820:
    bf16: W201
    f16: W202

class W821:
    f16: W388
    f32: W820

class W822:
    e4m3: Call
    e5m2: Call

class W823:
    e4m3: W822
    e5m2: W822

class W824:
    f16: W823
    f32: W823

class W825:
    tf32: Call

class W826:
    tf32: W825

class W827:
    f32: W826

class W828:
    and_: W480

class W829:
    b1: W828

class W830:
    b1: W829

class W831:
    s32: W830

class W832:
    s8: Call
    u8: Call

class W833:
    s8: W832
    u8: W832

class W834:
    s32: W833

class W835:
    f16: W823
    f32: W823
    s32: W833
    satfinite: W834

class W836:
    m64n104k16: W821
    m64n104k32: W824
    m64n104k8: W827
    m64n112k16: W821
    m64n112k256: W831
    m64n112k32: W835
    m64n112k8: W827
    m64n120k16: W821
    m64n120k32: W824
    m64n120k8: W827
    m64n128k16: W821
    m64n128k256: W831
    m64n128k32: W835
    m64n128k8: W827
    m64n136k16: W821
    m64n136k32: W824
    m64n136k8: W827
    m64n144k16: W821
    m64n144k256: W831
    m64n144k32: W835
    m64n144k8: W827
    m64n152k16: W821
    m64n152k32: W824
    m64n152k8: W827
    m64n160k16: W821
    m64n160k256: W831
    m64n160k32: W835
    m64n160k8: W827
    m64n168k16: W821
    m64n168k32: W824
    m64n168k8: W827
    m64n16k16: W821
    m64n16k256: W831
    m64n16k32: W835
    m64n16k8: W827
    m64n176k16: W821
    m64n176k256: W831
    m64n176k32: W835
    m64n176k8: W827
    m64n184k16: W821
    m64n184k32: W824
    m64n184k8: W827
    m64n192k16: W821
    m64n192k256: W831
    m64n192k32: W835
    m64n192k8: W827
    m64n200k16: W821
    m64n200k32: W824
    m64n200k8: W827
    m64n208k16: W821
    m64n208k256: W831
    m64n208k32: W835
    m64n208k8: W827
    m64n216k16: W821
    m64n216k32: W824
    m64n216k8: W827
    m64n224k16: W821
    m64n224k256: W831
    m64n224k32: W835
    m64n224k8: W827
    m64n232k16: W821
    m64n232k32: W824
    m64n232k8: W827
    m64n240k16: W821
    m64n240k256: W831
    m64n240k32: W835
    m64n240k8: W827
    m64n248k16: W821
    m64n248k32: W824
    m64n248k8: W827
    m64n24k16: W821
    m64n24k256: W831
    m64n24k32: W835
    m64n24k8: W827
    m64n256k16: W821
    m64n256k256: W831
    m64n256k32: W835
    m64n256k8: W827
    m64n32k16: W821
    m64n32k256: W831
    m64n32k32: W835
    m64n32k8: W827
    m64n40k16: W821
    m64n40k32: W824
    m64n40k8: W827
    m64n48k16: W821
    m64n48k256: W831
    m64n48k32: W835
    m64n48k8: W827
    m64n56k16: W821
    m64n56k32: W824
    m64n56k8: W827
    m64n64k16: W821
    m64n64k256: W831
    m64n64k32: W835
    m64n64k8: W827
    m64n72k16: W821
    m64n72k32: W824
    m64n72k8: W827
    m64n80k16: W821
    m64n80k256: W831
    m64n80k32: W835
    m64n80k8: W827
    m64n88k16: W821
    m64n88k32: W824
    m64n88k8: W827
    m64n8k16: W821
    m64n8k256: W831
    m64n8k32: W835
    m64n8k8: W827
    m64n96k16: W821
    m64n96k256: W831
    m64n96k32: W835
    m64n96k8: W827

class W837:
    aligned: W836

class W838:
    sync: W837

class W839:
    commit_group: W748
    fence: W748
    mma_async: W838
    wait_group: W748

class W840:
    bf16: Call
    f16: Call
    s8: Call
    u8: Call

class W841:
    bf16: Call
    f16: Call
    global_: W840
    s8: Call
    shared: W840
    shared__cta: W840
    u8: Call

class W842:
    global_: W825
    shared: W825
    shared__cta: W825
    tf32: Call

class W843:
    f64: Call
    global_: W222
    shared: W222
    shared__cta: W222

class W844:
    m16n16k16: W841
    m16n16k8: W842
    m32n8k16: W841
    m8n32k16: W841
    m8n8k4: W843

class W845:
    b1: Call

class W846:
    b1: Call
    global_: W845
    shared: W845
    shared__cta: W845

class W847:
    s4: Call
    u4: Call

class W848:
    global_: W847
    s4: Call
    shared: W847
    shared__cta: W847
    u4: Call

class W849:
    m16n16k16: W841
    m16n16k8: W842
    m32n8k16: W841
    m8n32k16: W841
    m8n8k128: W846
    m8n8k32: W848
    m8n8k4: W843

class W850:
    col: W844
    row: W849

class W851:
    f16: Call
    global_: W202
    shared: W202

class W852:
    m16n16k16: W851
    m32n8k16: W851
    m8n32k16: W851

class W853:
    aligned: W850
    col: W852
    row: W852

class W854:
    sync: W853

class W855:
    col: W849
    row: W844

class W856:
    aligned: W855
    col: W852
    row: W852

class W857:
    sync: W856

class W858:
    f16: Call
    f32: Call
    s32: Call

class W859:
    f16: Call
    f32: Call
    global_: W858
    s32: Call
    shared: W858
    shared__cta: W858

class W860:
    f32: Call
    global_: W7
    shared: W7
    shared__cta: W7

class W861:
    global_: W208
    s32: Call
    shared: W208
    shared__cta: W208

class W862:
    m16n16k16: W859
    m16n16k8: W860
    m32n8k16: W859
    m8n32k16: W859
    m8n8k128: W861
    m8n8k32: W861
    m8n8k4: W843

class W863:
    col: W862
    row: W862

class W864:
    f16: Call
    f32: Call
    global_: W205
    shared: W205

class W865:
    m16n16k16: W864
    m32n8k16: W864
    m8n32k16: W864

class W866:
    aligned: W863
    col: W865
    row: W865

class W867:
    sync: W866

class W868:
    a: W854
    b: W857
    c: W867

class W869:
    b1: W208

class W870:
    b1: W869

class W871:
    s32: W870

class W872:
    m8n8k128: W871

class W873:
    col: W872

class W874:
    row: W873

class W875:
    aligned: W874

class W876:
    sync: W875

class W877:
    popc: W876

class W878:
    bf16: W390
    f16: Call
    f32: Call

class W879(Call):
    satfinite: Call

class W880:
    s32: W879

class W881:
    s8: W880

class W882:
    u8: W880

class W883:
    s8: W881
    u8: W882

class W884:
    f16: W205
    f32: W878
    s32: W883

class W885:
    f64: W491

class W886:
    f64: W491
    rm: W885
    rn: W885
    rp: W885
    rz: W885

class W887:
    m16n16k16: W884
    m16n16k8: W411
    m32n8k16: W884
    m8n32k16: W884
    m8n8k4: W886

class W888:
    col: W887
    row: W887

class W889:
    s4: W880

class W890:
    u4: W880

class W891:
    s4: W889
    u4: W890

class W892:
    s32: W891

class W893:
    m16n16k16: W884
    m16n16k8: W411
    m32n8k16: W884
    m8n32k16: W884
    m8n8k32: W892
    m8n8k4: W886

class W894:
    col: W893
    row: W887

class W895:
    col: W888
    row: W894

class W896:
    f16: W205
    f32: W205

class W897:
    m16n16k16: W896
    m32n8k16: W896
    m8n32k16: W896

class W898:
    col: W897
    row: W897

class W899:
    aligned: W895
    col: W898
    row: W898

class W900:
    and_: W877
    sync: W899
    xor: W877

class W901:
    d: W867

class W902:
    load: W868
    mma: W900
    store: W901

class Axes:
    x: Value
    y: Value
    z: Value

class Instructions:
    abs: W2
    activemask: W3
    add: W14
    addc: W15
    alloca: W16
    and_: W17
    applypriority: W25
    atom: W48
    bar: W53
    barrier: W62
    bfe: W4
    bfi: W32
    bfind: W63
    bmsk: W64
    bra: W65
    brev: W32
    brkpt: Call
    brx: W66
    call: W65
    clmad: W68
    clusterlaunchcontrol: W78
    clz: W32
    cnot: W79
    copysign: W80
    cos: W82
    cp: W195
    createpolicy: W200
    cvt: W265
    cvta: W267
    discard: W269
    div: W271
    dp2a: W273
    dp4a: W272
    elect: W52
    ex2: W276
    exit: Call
    fence: W292
    fma: W297
    fns: W3
    getctarank: W298
    griddepcontrol: W299
    isspacep: W300
    istypep: W301
    ld: W327
    ldmatrix: W342
    ldu: W343
    lg2: W82
    lop3: W344
    mad: W350
    mad24: W352
    madc: W353
    mapa: W298
    match: W355
    max: W363
    mbarrier: W379
    membar: W381
    min: W363
    mma: W513
    mov: W514
    movmatrix: W518
    mul: W522
    mul24: W523
    multimem: W573
    nanosleep: W35
    neg: W574
    not_: W17
    or_: W17
    pmevent: W575
    popc: W32
    prefetch: W580
    prefetchu: W581
    prmt: W583
    rcp: W585
    red: W598
    redux: W602
    rem: W519
    ret: W65
    rsqrt: W604
    sad: W519
    selp: W605
    set: W627
    setmaxnreg: W630
    setp: W638
    shf: W639
    shfl: W641
    shl: W79
    shr: W642
    sin: W82
    slct: W645
    sqrt: W646
    st: W667
    stackrestore: W16
    stacksave: W16
    stmatrix: W674
    sub: W676
    subc: W15
    suld: W683
    suq: W684
    sured: W695
    sust: W700
    szext: W701
    tanh: W702
    tcgen05: W759
    tensormap: W771
    testp: W772
    tex: W784
    tld4: W788
    trap: Call
    txq: W790
    vabsdiff: W795
    vabsdiff2: W799
    vabsdiff4: W799
    vadd: W795
    vadd2: W799
    vadd4: W799
    vavrg2: W799
    vavrg4: W799
    vmad: W805
    vmax: W795
    vmax2: W799
    vmax4: W799
    vmin: W795
    vmin2: W799
    vmin4: W799
    vote: W807
    vset: W810
    vset2: W814
    vset4: W814
    vshl: W819
    vshr: W819
    vsub: W795
    vsub2: W799
    vsub4: W799
    wgmma: W839
    wmma: W902
    xor: W17
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
    reserved_smem_offset_0: Value
    reserved_smem_offset_1: Value
    reserved_smem_offset_begin: Value
    reserved_smem_offset_cap: Value
    reserved_smem_offset_end: Value
    tid: Axes
    total_smem_size: Value
