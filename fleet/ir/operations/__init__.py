"""The operations of the dialect `fleet`, one module per family; `fleet.ir.dialect` registers them."""
