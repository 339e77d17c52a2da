//! Nowhere: where values are read to whose place is not there when they are applied.
//!
//! Invariant: it takes every update that was validated, and nothing comes of it.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use super::target::{ReadItem, Target};
use crate::bits::{BitReader, ReadError};
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::reference::{ReferenceMap, read_guid};
use crate::object::leaf::validate_value;
use crate::schema::codec::Codec;
use crate::schema::program::LeafCommand;

/// Reads and drops.
pub(super) struct Skip;

impl Target for Skip {
    type Element<'e> = Self;

    fn leaf(
        &mut self,
        _: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        // What it mentions is remembered: the value may have a place later.
        if let Codec::Reference = command.codec {
            read_guid(reader)?.into_iter().for_each(|guid| references.mention(guid));
            return Ok(());
        }
        validate_value(&command.codec, reader, references)
    }

    fn resize(&mut self, _: u32, len: usize) -> usize {
        len
    }

    fn element(&mut self, _: u32, _: usize) -> Option<Self> {
        Some(Self)
    }

    fn item_whole(&mut self, _: u32, _: ItemId, read: &mut impl ReadItem) -> Result<bool, ReadError> {
        read.read(self).map(|()| true)
    }

    fn item_change(
        &mut self,
        _: u32,
        _: ItemId,
        _: &HandleSet,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        read.read(self)
    }

    fn entries(&mut self, _: u32) -> usize {
        0
    }

    fn keys(&mut self, _: u32) -> Vec<KeyBits> {
        Vec::new()
    }

    fn entry_whole(
        &mut self,
        _: u32,
        _: &KeyBits,
        _: bool,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        read.read(self)
    }

    fn entry_change(
        &mut self,
        _: u32,
        _: &KeyBits,
        _: &HandleSet,
        _: bool,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        read.read(self)
    }

    fn entry_remove(&mut self, _: u32, _: &KeyBits, _: bool) {}
}
