//! Generated code works without a prelude, and does not conflict with the user's names.

#![no_implicit_prelude]
#![allow(non_camel_case_types, dead_code)]

/// Types with names that generated code would use by mistake if it did not write full paths.
mod traps {
    pub struct Option;
    pub struct Some;
    pub struct None;
    pub struct Result;
    pub struct Ok;
    pub struct Err;
    pub struct Vec;
    pub struct String;
    pub struct u64;
    pub struct usize;
    pub struct str;
    pub struct bool;
    pub struct repl;
    pub struct core;
    pub struct std;
    pub trait Default {}
    pub trait Clone {}
    pub trait Property {}
    pub trait NetSerialize {}
    pub trait Replicated {}
    pub trait FastArrayItem {}
    pub trait ItemCallbacks {}
}

mod user {
    #[allow(unused_imports)]
    use super::traps::*;

    #[derive(::repl::Replicated, ::core::default::Default)]
    pub struct Player {
        #[replicated(notify = on_health, bits = 10)]
        health: u16,
        #[replicated(quantize(step = 0.5, range = 0.0..=1.0))]
        speed: f32,
        #[replicated(max_len = 8)]
        name: ::std::string::String,
        #[replicated(with = super::flag)]
        flag: ::core::primitive::u64,
        #[replicated]
        stance: Stance,
        #[replicated]
        deed: Deed,
        #[replicated(notify = on_items)]
        items: ::repl::FastArray<Item>,
    }

    #[derive(::repl::Replicated, ::core::default::Default)]
    #[replicated(all)]
    pub enum Deed {
        #[default]
        None,
        Some(::core::primitive::u64, #[replicated(with = super::flag)] ::core::primitive::u64),
        Ok {
            #[replicated(skip)]
            count: ::core::primitive::u64,
        },
    }

    impl Player {
        fn on_health(&mut self) {}
        fn on_items(&mut self) {}
    }

    #[derive(::repl::FastArrayItem, ::core::default::Default)]
    pub struct Item {
        #[replicated(range = 0..=99)]
        count: u16,
        #[replicated(with = super::flag)]
        flag: ::core::primitive::u64,
        #[replicated(skip)]
        price: u32,
    }

    #[derive(::repl::NetSerialize, ::core::clone::Clone, ::core::default::Default)]
    pub enum Stance {
        #[default]
        Idle,
        Run(u8, #[replicated(with = super::flag)] ::core::primitive::u64),
        Fly {
            height: f32,
            #[replicated(skip)]
            cache: u8,
        },
    }
}

mod flag {
    use ::core::primitive::u64;
    use ::core::result::Result::{self, Ok};

    pub const NAME: &::core::primitive::str = "flag";

    pub fn write(value: &u64, writer: &mut ::repl::BitWriter) -> Result<(), ::repl::WriteError> {
        writer.write_bits(*value, 1);
        Ok(())
    }

    pub fn read(
        reader: &mut ::repl::BitReader<'_>,
        _: &mut ::repl::ReferenceMap<'_>,
    ) -> Result<u64, ::repl::ReadError> {
        reader.read_bits(1)
    }
}

#[test]
fn these_forms_are_accepted() {
    let _ = <user::Player as ::repl::Replicated>::program();
    let _ = <user::Item as ::repl::FastArrayItem>::LAYOUT;
    let _ = <user::Stance as ::repl::NetSerialize>::WIRE_FORM.checksum();
}
