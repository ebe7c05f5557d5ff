"""Pages of instruction sets and devices."""

from __future__ import annotations

from fleet.cli.looking.inspecting.page import InspectedFile, InspectRequest, Page


def description_file(page: Page, file: InspectedFile) -> None:
    """Show instructions and registers of a SystemRDL description, or of a folder with one."""
    from fleet.isa.reading.cache import load
    from fleet.isa.registry import broken, instruction_sets

    d = load(sorted(file.path.glob("*.rdl"))[0] if file.path.is_dir() else file.path)
    page.rows["set"] = [f"{d.name}: {d.title}"]
    page.rows["instructions"] = [", ".join(f"{i.name} {i.opcode:#04x}" for i in d.instructions.values())]
    page.rows["registers"] = [f"{len(d.registers)} registers, {len(d.units)} units"]
    page.facts |= {"set": d.name, "instructions": list(d.instructions), "registers": len(d.registers)}
    if d.name in instruction_sets(tell=False) or d.name in broken():
        page.installed = d.name
        page.commands = [f"fleet try {d.name}", f"fleet isa check {d.name}", "fleet devices"]
    else:
        page.rows["installed"] = ["no: its package has no entry point in the group fleet.instruction_sets"]
        page.commands = ["fleet help bring-your-own"]


def installed_set(asked: InspectRequest) -> Page | None:
    """Return the page of an installed instruction set or device, or None for other names. Raises FleetError for a broken set."""
    from fleet.cli.sets.target import find_set
    from fleet.isa.registry import broken, instruction_sets

    name, sets = asked.spec, instruction_sets(tell=False)
    if name not in sets and name not in broken() and not any(name in s.devices for s in sets.values()):
        return None
    page = Page(name, "instruction-set", "an installed instruction set" if name in sets else "an installed device")
    found, device = find_set(name)
    page.rows["set"] = [f"{found.name}{f' {found.rtl.top}' if found.rtl else ', no RTL'}"]
    page.rows["instructions"] = [", ".join(found.instructions)]
    page.rows["devices"] = [
        f"{d.name:<12} {d.clock_mhz:g} MHz, " + ", ".join(f"{space} {size:,} bytes" for space, size in d.memory.items())
        for d in ([device] if device else found.devices.values())
    ]
    page.facts |= {"set": found.name, "instructions": list(found.instructions), "devices": list(found.devices)}
    page.installed = name
    page.commands = [f"fleet try {name}", f"fleet isa check {name}", "fleet devices"]
    return page
