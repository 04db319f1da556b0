"""Loading and launching against a driver that keeps device memory on the host."""

import ctypes
import gc
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as real

from ptxgen.emit import Listing
from ptxgen.errors import DriverError, LaunchError
from ptxgen.ir import Origin
from ptxgen.runtime import DeviceArray, compute_capability, device_count, driver_version, load, resident_ctas
from ptxgen.runtime.driver import binding, stream_handle
from tests.runtime.fake_driver import FIRST_CONTEXT, FakeDriver, Launched

TEXT = """\
.version 6.4
.target sm_70
.address_size 64
.visible .entry double(.param .u64 .ptr .global .align 8 a, .param .u64 b, .param .u32 n) { ret; }
"""


def double_on_host(launched: Launched) -> None:
    """What the kernel would do: b[i] = 2 * a[i] in f32."""
    first, second = (int.from_bytes(launched.read(index, 8), "little") for index in (0, 1))
    count = int.from_bytes(launched.read(2, 4), "little")
    source = np.ctypeslib.as_array((ctypes.c_float * count).from_address(first))
    np.ctypeslib.as_array((ctypes.c_float * count).from_address(second))[:] = 2 * source


@pytest.fixture
def double(driver: FakeDriver) -> Any:
    driver.on_launch, driver.parameter_count = double_on_host, 3
    return load(TEXT)["double"]


class Interface:
    """Device memory of another library."""

    def __init__(self, address: int, **more: Any) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": (4,),
            "typestr": "<f4",
            "version": 3,
            **more,
        }


def test_numpy_arrays_go_to_the_device_and_back(driver: FakeDriver, double: Any) -> None:
    a, b = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    double(a, b, 4, grid=(2, 3), block=128)
    assert b.tolist() == [0, 2, 4, 6]
    launched = driver.launches[0]
    assert (launched.grid, launched.block, launched.cluster) == ((2, 3, 1), (128, 1, 1), None)
    assert not driver.contexts, "the caller's context is current again"
    gc.collect()
    assert not driver.memory, "the copies are freed"


def test_the_same_array_twice_is_one_copy(double: Any) -> None:
    a = np.arange(4, dtype=np.float32)
    double(a, a, 4, grid=1, block=4)
    assert a.tolist() == [0, 2, 4, 6]


def test_a_read_only_array_is_not_written_back(double: Any) -> None:
    a, b = np.ones(4, np.float32), np.zeros(4, np.float32)
    b.flags.writeable = False
    double(a, b, 4, grid=1, block=4)
    assert b.tolist() == [0, 0, 0, 0]


def test_a_transposed_array_is_copied_as_it_lies(double: Any) -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.zeros((3, 2), np.float32, order="F")
    double(a.T, b, 6, grid=1, block=4)
    assert np.array_equal(b, 2 * a.T)


def test_device_arrays_stay_where_they_are(driver: FakeDriver, double: Any) -> None:
    a = DeviceArray.from_numpy(np.arange(4, dtype=np.float32))
    b = DeviceArray.empty(4, np.float32)
    b.fill(0xFF)
    assert np.isnan(b.to_numpy()).all()
    double(a, b, np.int64(4), grid=1, block=4)
    assert b.to_numpy().tolist() == [0, 2, 4, 6]
    double(b.address, Interface(a.address), 4, grid=1, block=4)
    assert a.to_numpy().tolist() == [0, 4, 8, 12]


def test_an_empty_array_has_an_address(double: Any) -> None:
    none = np.zeros(0, np.float32)
    double(none, np.zeros((3, 0), np.float32), 0, grid=1, block=1)


def test_pending_work_of_another_stream_is_waited_for(driver: FakeDriver, double: Any) -> None:
    a = DeviceArray.empty(4)
    double(Interface(a.address, stream=1), a, 0, grid=1, block=1)
    assert driver.followed == []
    double(Interface(a.address, stream=77), a, 0, grid=1, block=1, stream=5)
    assert driver.followed == [(5, 77)]
    assert driver.synchronised == []


def test_a_prepared_launch_is_made_as_often_as_called(driver: FakeDriver, double: Any) -> None:
    a, b = DeviceArray.from_numpy(np.ones(4, np.float32)), DeviceArray.empty(4)
    launch = double.prepare(a, b, 4, grid=8, block=(4, 2), cluster=2, shared_bytes=65536, stream=5)
    assert driver.launches == []
    launch()
    launch()
    assert len(driver.launches) == 2
    launched = driver.launches[1]
    assert (launched.cluster, launched.shared_bytes, launched.stream) == ((2, 1, 1), 65536, 5)
    assert driver.max_dynamic_shared == 65536


def test_a_prepared_launch_goes_to_other_arrays_and_streams(driver: FakeDriver, double: Any) -> None:
    a, b, c = (DeviceArray.from_numpy(np.full(4, value, np.float32)) for value in (1, 2, 3))
    launch = double.prepare(a, b, 4, grid=1, block=1, overlapped=True)
    launch.slot(0).value = b.address
    launch.slot(1).value = c.address
    launch.on_stream(9)
    launch()
    assert list(c.to_numpy()) == [4.0] * 4
    assert (driver.launches[0].stream, driver.launches[0].overlapped) == (9, True)
    for number in (0, 1):
        assert launch.arguments.words[launch.word(number)] == launch.slot(number).value
    launch.arguments.words[launch.word(0)] = c.address
    assert launch.slot(0).value == c.address
    for number in (-1, 3):
        with pytest.raises(
            LaunchError, match=f"kernel double takes 3 arguments, counted from 0, .* no argument {number}"
        ):
            launch.slot(number)
    with pytest.raises(LaunchError, match=r"kernel double: argument 3 \(n\) holds no address"):
        launch.slot(2)


def test_a_launch_leaves_the_context_of_its_caller(driver: FakeDriver, double: Any) -> None:
    a = DeviceArray.empty(4)
    launch = double.prepare(a, a, 0, grid=1, block=1)
    seen: list[Any] = []
    driver.on_launch = lambda launched: seen.append(driver.contexts[-1])
    for current in ([], [FIRST_CONTEXT], [FIRST_CONTEXT + 1]):
        driver.contexts[:] = current
        launch()
        assert (seen.pop(), driver.contexts) == (FIRST_CONTEXT, current)


@pytest.mark.parametrize(
    "change, wanted",
    [
        ({"grid": 0}, "grid wants one to three integers of at least 1, got 0"),
        ({"grid": (1, 2, 3, 4)}, "grid wants"),
        ({"block": (1.5,)}, "block wants"),
        ({"block": (32, 33)}, r"a block of \(32, 33, 1\) has 1056 threads, the most are 1024"),
        ({"grid": (1, 65536)}, r"the grid \(1, 65536, 1\) is larger than"),
        ({"grid": 3, "cluster": 2}, r"the grid \(3, 1, 1\) is no multiple of the cluster \(2, 1, 1\)"),
        ({"shared_bytes": -1}, "shared_bytes is -1"),
        ({"shared_bytes": 1 << 20}, "1048576 dynamic and 0 static shared bytes are more than the device has"),
        ({"arguments": (0, 0)}, "kernel double takes 3 arguments .*, got 2"),
        ({"arguments": (0, 0, 1.5)}, r"argument 3 \(n, .u32\) wants an integer"),
        ({"arguments": (0, 0, np.zeros(3))}, r"argument 3 \(n, .u32\) wants an integer"),
        ({"arguments": ("a", 0, 1)}, r"argument 1 \(a, .u64\) wants an array in device memory"),
        ({"arguments": (np.zeros((4, 4))[:, :2], 0, 1)}, r"argument 1 \(a\): the host array .* has gaps"),
        ({"arguments": (np.array([None]), 0, 1)}, r"argument 1 \(a\): a numpy array of Python objects"),
        ({"arguments": (Interface(4), 0, 0)}, r"argument 1 \(a\): the array begins at 0x4, .* a multiple of 8 bytes"),
        ({"arguments": (Interface(8, mask=1), 0, 0)}, r"argument 1 \(a\): a masked device array"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_launch(
    driver: FakeDriver, double: Any, change: dict[str, Any], wanted: str
) -> None:
    given: dict[str, Any] = {"arguments": (0, 0, 0), "grid": 1, "block": 1} | change
    with pytest.raises(LaunchError, match=wanted):
        double(*given.pop("arguments"), **given)
    assert driver.launches == []


def test_overlapping_arrays_are_refused(double: Any) -> None:
    whole = np.zeros(8, np.float32)
    with pytest.raises(LaunchError, match=r"argument 2 \(b\): the numpy array overlaps another argument"):
        double(whole, whole[2:], 4, grid=1, block=1)


def test_an_array_of_another_device_is_refused(double: Any) -> None:
    with pytest.raises(LaunchError, match=r"argument 2 \(b\): the array is on device 1, the kernel on device 0"):
        double(0, DeviceArray.empty(4, device=1), 4, grid=1, block=1)


class HostTensor:
    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, *, stream: int) -> object:
        raise AssertionError("is not asked for")


def test_a_tensor_in_host_memory_is_refused(double: Any) -> None:
    with pytest.raises(LaunchError, match="the HostTensor is in host memory: pass a numpy array or move it to the GPU"):
        double(HostTensor(), 0, 4, grid=1, block=1)


class FromNumpy:
    """A DLPack object whose memory numpy holds and that says that it is on a GPU."""

    def __init__(self, array: Any) -> None:
        self.array, self.streams = array, list[int]()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int) -> object:
        self.streams.append(stream)
        return self.array.__dlpack__()


def test_dlpack_memory_is_used_where_it_is(double: Any) -> None:
    whole = np.arange(8, dtype=np.float32)
    a, b = FromNumpy(whole[2:6]), FromNumpy(np.zeros(4, np.float32))
    double(a, b, 4, grid=1, block=1, stream=None)
    assert b.array.tolist() == [4, 6, 8, 10]
    double(a, b, 4, grid=1, block=1, stream=99)
    assert a.streams == [1, 99]


class ManagedTensor(ctypes.Structure):
    """DLManagedTensor as dlpack.h lays it out, up to the fields that matter here."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int),
        ("device_id", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class WithOffset:
    """A DLPack object whose first element lies `byte_offset` bytes behind its data pointer."""

    def __init__(self, address: int, byte_offset: int) -> None:
        self.tensor = ManagedTensor(data=address, device_type=2, byte_offset=byte_offset)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int) -> object:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


def test_the_byte_offset_of_dlpack_counts(driver: FakeDriver, double: Any) -> None:
    a = DeviceArray.from_numpy(np.arange(4, dtype=np.float32))
    b = DeviceArray.empty(2)
    double(WithOffset(a.address, 8), b, 2, grid=1, block=1)
    assert b.to_numpy().tolist() == [4, 6]


def test_a_jit_error_stands_on_the_lines(driver: FakeDriver) -> None:
    driver.refusal = "ptxas application ptx input, line 4; error   : Unknown symbol 'x'\nptxas fatal   : aborted"
    listing = Listing(TEXT, tuple(Origin("mine.py", 10 * line, "f") for line in range(5)))
    with pytest.raises(
        DriverError, match="the driver refuses the module on device 0: CUDA_ERROR_INVALID_PTX"
    ) as caught:
        load(listing)
    assert "mine.py:30: Unknown symbol 'x': .visible .entry double" in str(caught.value)
    assert "(PTX line 4)" in str(caught.value)
    assert caught.value.findings[0].ptx_line == 4


def test_a_driver_that_is_too_old_says_both_versions_and_what_to_do(driver: FakeDriver) -> None:
    driver.refusal = "ptxas application ptx input, line 1; fatal   : Unsupported .version 9.0; current version is '8.4'"
    driver.refusal_status = real.CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    with pytest.raises(DriverError, match="CUDA_ERROR_UNSUPPORTED_PTX_VERSION") as caught:
        load(".version 9.0\n" + TEXT.partition("\n")[2])
    assert "Unsupported .version 9.0; current version is '8.4': .version 9.0" in str(caught.value)
    advice = str(caught.value).splitlines()[-1]
    assert advice.startswith("the text is PTX 9.0, and the driver of CUDA 12.4 takes PTX up to 8.4: ")
    assert "install a driver of CUDA 13.0 or later" in advice
    assert "load(assemble(...))" in advice


def test_the_version_of_the_driver(driver: FakeDriver) -> None:
    assert driver_version() == (12, 4)
    driver.version = 13010
    assert driver_version() == (13, 1)


def test_text_goes_to_the_driver_with_its_end(driver: FakeDriver) -> None:
    load(TEXT)
    assert driver.images == [TEXT.encode() + b"\0"]


def test_a_module_is_unloaded_with_its_last_kernel(driver: FakeDriver) -> None:
    kernel = load(TEXT)["double"]
    gc.collect()
    assert driver.unloaded == []
    assert kernel.registers == 40
    del kernel
    gc.collect()
    assert driver.unloaded == ["a module"]


def test_a_kernel_that_is_not_there_is_named(driver: FakeDriver) -> None:
    with pytest.raises(LookupError, match="no kernel 'triple'; it has: double"):
        load(TEXT)["triple"]


def test_devices(driver: FakeDriver) -> None:
    assert device_count() == 2
    assert compute_capability(1) == (9, 0)
    with pytest.raises(DriverError, match="there is no device 2: the driver shows 2, counted from 0"):
        load(TEXT, device=2)


class Torch:
    cuda_stream = 7


class CuPy:
    ptr = 8


class Core:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 9


def test_streams_of_others() -> None:
    assert [stream_handle(each) for each in (None, 3, Torch(), CuPy(), Core())] == [0, 3, 7, 8, 9]
    with pytest.raises(DriverError, match="a stream is None, a handle or a stream object, not str"):
        stream_handle("default")


class NoLibrary:
    def cuInit(self, flags: int) -> Any:
        raise RuntimeError("libcuda.so.1 not found")

    def cuDriverGetVersion(self) -> Any:
        raise RuntimeError("libcuda.so.1 not found")


def test_without_the_driver_library_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import cuda.bindings
    import cuda.bindings.driver

    binding.cache_clear()
    monkeypatch.setattr(cuda.bindings, "driver", NoLibrary())
    with pytest.raises(DriverError, match=r"needs the NVIDIA driver library libcuda, .* ptxgen.simulate"):
        load(TEXT)
    assert device_count() == 0
    with pytest.raises(DriverError, match=r"needs the NVIDIA driver library libcuda"):
        driver_version()


def test_what_a_device_holds_at_once(driver: FakeDriver, double: Any) -> None:
    """Seven multiprocessors by the fake driver, each with 2048 threads and 228 KB of shared memory."""
    assert resident_ctas(double, threads=256) == 7 * 8
    assert resident_ctas(double, threads=384, shared_bytes=196608) == 7
    assert driver.max_dynamic_shared == 196608
    with pytest.raises(LaunchError, match="are more than the device has"):
        resident_ctas(double, threads=384, shared_bytes=1 << 20)


def test_clusters_that_a_device_holds_at_once(driver: FakeDriver, double: Any) -> None:
    """By the fake driver one of seven multiprocessors lies apart, so that no cluster of two has it."""
    assert resident_ctas(double, threads=384, shared_bytes=196608, cluster=2) == 6
    assert resident_ctas(double, threads=384, shared_bytes=196608, cluster=4) == 4
    assert resident_ctas(double, threads=256, cluster=4) == 48
    assert driver.max_dynamic_shared == 196608
