//! Layout tables as snapshots, and a hand-written serialiser on the traits of `bitstream_io`.
//!
//! Run it to see the layout of a class, field by field, in both forms in which a table prints. The tests
//! below compare the tables with snapshots. If the layout changes, `cargo test --example layouts` fails until
//! somebody reviews the change with `cargo insta review`.
//!
//! *Invariant:* everything is printed from constants that the derive made. The example needs no server and no
//! client.

mod wire;

use repl::prelude::*;

/// A ship.
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

/// The cargo of a ship.
#[derive(FastArrayItem, Clone, Default)]
struct Crate {
    goods: u16,
    #[replicated(bits = 7)]
    count: u8,
}

#[expect(clippy::print_stdout, reason = "the example prints tables")]
fn main() {
    println!("The layout, in the form for reviews ({{}}):\n\n{}", Ship::LAYOUT);
    println!("The layout with offsets, and with the runs of memory that are compared at once ({{:#}}):\n");
    println!("{:#}", Ship::LAYOUT);
    let ship = Ship { bearing: 270.0, wake: 1.5, ..Ship::default() };
    println!(
        "A bearing of {} degrees takes {} bits; the wake of {} is not sent.",
        ship.bearing,
        wire::BEARING_BITS,
        ship.wake
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if the wire format of the class changes, and shows the changed line. Accept the change with
    /// `cargo insta review`. Builds from before and after the change refuse each other.
    #[test]
    fn the_layout_of_a_ship_is_the_reviewed_one() {
        insta::assert_snapshot!(Ship::LAYOUT);
    }

    /// Offsets and runs differ between compilers and targets. So compare this form only for types that are
    /// `repr(C)`.
    #[test]
    fn the_alternate_form_prints_the_offsets_of_fields() {
        let table = format!("{:#}", Ship::LAYOUT);
        assert!(table.contains("offset, size"));
        assert!(table.contains("run: "));
    }
}
