"""The operations of the dialect `fleet`, one module a family; `fleet.ir.dialect` registers them."""
