//! Every form of type on which the macros can be used. Two more files are in the folder `pass`, because lints
//! report other problems for a whole crate than for a module.

#![allow(
    clippy::all,
    dead_code,
    unnameable_types,
    unreachable_pub,
    reason = "each file is written like a crate of its own"
)]

mod calls;
mod conditional_fields;
mod converted;
mod enums;
mod every_attribute;
mod fast_array_items;
mod functions_for_all_classes;
mod generic_items;
mod generic_object;
mod generic_values;
mod identifiers;
mod inside_a_function;
mod locations;
mod no_prelude;
mod quantize_own_struct;
mod renamed_crate;
mod s12_opt_in_and_opt_out;
mod s17_maps;
mod s34_every_condition;
mod s45_starts_off;
mod s52_notifies;
mod tuple_and_unit_structs;
mod values;
mod values_in_between;

use repl::{BitReader, BitWriter, NetSerialize, NoObjects, ReferenceMap};

/// Writes a value and reads it. Returns the read value. Asserts that writing the read value makes the same
/// bytes.
fn round_trip<T: NetSerialize>(value: &T) -> T {
    let mut writer = BitWriter::new();
    value.write(&mut writer).expect("the value has a form");
    let bytes = writer.into_bytes();
    let read = T::read(&mut BitReader::new(&bytes), &mut ReferenceMap::new(&NoObjects))
        .expect("what was written can be read");
    let mut again = BitWriter::new();
    read.write(&mut again).expect("what was read has a form");
    assert_eq!(again.into_bytes(), bytes);
    read
}
