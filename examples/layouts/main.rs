//! Layout tables as snapshots, and a serialiser of one's own on the traits of `bitstream_io`.
//!
//! Run it to see what travels of a class, field by field, in both forms that a table prints in. The tests below keep the tables beside
//! the code: a change of what travels fails `cargo test --example layouts` until somebody has reviewed it with `cargo insta review`.
//!
//! *Invariant:* everything is printed from constants that the derive made; no server and no client is needed for it.

mod wire;

use repl::prelude::*;

/// A ship, with all that decides its table.
#[derive(Replicated, Default)]
struct Ship {
    #[replicated(condition = InitialOnly, max_len = 24)]
    name: String,
    #[replicated(quantize(step = 0.01, range = -4096.0..=4096.0))]
    position: [f32; 2],
    #[replicated(with = wire::bearing)]
    bearing: f32,
    #[replicated(range = 0..=100)]
    hull: u8,
    #[replicated(condition = OwnerOnly)]
    cargo: FastArray<Crate>,
    wake: f32, // no attribute: never leaves the server, and is not in the table
}

/// What a ship carries.
#[derive(FastArrayItem, Clone, Default)]
struct Crate {
    goods: u16,
    #[replicated(bits = 7)]
    count: u8,
}

#[expect(clippy::print_stdout, reason = "the tables are what it is for")]
fn main() {
    println!("What travels, as a reviewer reads it ({{}}):\n\n{}", Ship::LAYOUT);
    println!(
        "With what the compiler decides ({{:#}}): where fields lie, and which runs of memory are compared at once:\n"
    );
    println!("{:#}", Ship::LAYOUT);
    let ship = Ship { bearing: 270.0, wake: 1.5, ..Ship::default() };
    println!(
        "A bearing of {} degrees takes {} bits; the wake of {} stays.",
        ship.bearing,
        wire::BEARING_BITS,
        ship.wake
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails when anything of the wire format of a class changes, and shows the line. Accept it with `cargo insta review`: clients and
    /// servers from before then refuse those from after.
    #[test]
    fn what_travels_of_a_ship_is_as_it_was_reviewed() {
        insta::assert_snapshot!(Ship::LAYOUT);
    }

    /// Offsets and runs differ between compilers and targets, so this form is for the eye, and for types that are `repr(C)`.
    #[test]
    fn the_alternate_form_says_where_fields_lie() {
        let table = format!("{:#}", Ship::LAYOUT);
        assert!(table.contains("offset, size"));
        assert!(table.contains("run: "));
    }
}
