"""Variants of a device: their names, what follows from a parameter, what the hardware cannot have."""

from __future__ import annotations

import pytest

from fleet.engines.rtl_sim.top_parameters import top_parameters
from fleet.errors import DeviceError
from fleet.isa.hardware import hardware_of
from fleet.isa.registry import description_hash, find_device
from fleet.isa.variants import changes_of, variant
from fleet.sdk.hardware.state import depth_parameter


def test_a_name_finds_the_variant_and_only_what_differs_is_in_it() -> None:
    instruction_set, device = find_device("hbm_small@ports=16,Tout=16,Tin=64")
    assert device.name == "hbm_small@Tout=16,HbmPorts=16"
    assert find_device(device.name)[1] == device
    assert find_device("hbm_small@Tin=64")[1] is find_device("hbm_small")[1]
    assert device.limits["macs_per_cycle"] == 1024  # as hbm0923's table: 64 inputs a cycle for each of 16 outputs
    assert device.limits["hbm_bytes_per_cycle"] == 512
    assert top_parameters(hardware_of(instruction_set) or pytest.fail("no hardware"), device)["HbmPorts"] == 16


def test_every_variant_has_a_description_hash_of_its_own() -> None:
    names = ["hbm_small", "hbm_small@Tin=128", "hbm_small@SfuInterval=1", "hbm_small@Tout=16,HbmPorts=16"]
    assert len({description_hash(*find_device(name)) for name in names}) == len(names)


def test_rows_of_on_chip_memories_follow() -> None:
    _, small = find_device("vgemm_small")
    _, wide = find_device("vgemm_small@Block=16,acc=512")
    assert wide.limits["macs_per_cycle"] == 256
    sixteen = find_device("vgemm16")[1].arrays
    for name, array in wide.arrays.items():
        assert array.columns == sixteen[name].columns
        assert array.depth == wide.parameters[depth_parameter(name)]
        assert array.number == small.arrays[name].number
    assert wide.arrays["acc"].depth == 512


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hbm_small@Tin=96", "the hardware cannot have Tin=96: a word of Tin inputs is whole beats of 64 inputs"),
        ("hbm_small@HbmPorts=16", "every HBM port feeds one output channel"),
        ("hbm_small@Tout=64,HbmPorts=64", "attention divides the 32 lanes of a pixel among 4, 8, 16 or 32 ports"),
        ("hbm_small@SfuInterval=0", "SfuInterval is 0, expected at least 1"),
        ("hbm_small@TgroupCh=4096", "no parameter 'TgroupCh' to change; of hbm_small may be changed: Tin"),
        ("hbm_small@Tin", "'Tin' is no change of a parameter"),
        ("hbm_small@Tin=-1", "'Tin=-1' is no change of a parameter"),
        ("hbm_small@Tin=64,Tin=128", "each name once"),
        ("vgemm_small@Block=5", "the hardware cannot have Block=5"),
        ("vgemm16@inp=4096", "a scratchpad has a power of two of 64 to 2048 rows of inputs"),
        ("hbm_large@Tin=64", "no device 'hbm_large'"),
    ],
)
def test_what_cannot_be_is_refused_with_its_rule(name: str, message: str) -> None:
    with pytest.raises(DeviceError) as caught:
        find_device(name)
    assert message in str(caught.value)


def test_changes_are_read_in_their_order() -> None:
    assert changes_of("Tin=128,Tout=16", "here") == {"Tin": 128, "Tout": 16}
    _, device = find_device("hbm_small")
    assert variant(device, {"Tin": 128}).parameters["Tin"] == 128
    assert device.parameters["Tin"] == 64
