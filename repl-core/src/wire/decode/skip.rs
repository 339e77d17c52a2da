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

use crate::bits::{BitReader, ReadError};
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::reference::{ReferenceMap, read_guid};
use crate::object::leaf::validate_value;
use crate::schema::codec::Codec;
use crate::schema::program::{Collected, LeafCommand};
use crate::wire::decode::target::{ElementTarget, ReadElement, Target};

/// Reads and drops.
pub(super) struct Skip;

impl Target for Skip {
    type Element<'e> = Self;
    type Elements<'e, I: Collected> = Self;

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

    fn elements<I: Collected>(&mut self, _: u32) -> Self {
        Self
    }
}

impl<I: Identity> ElementTarget<I> for Skip {
    fn whole<R: ReadElement>(&mut self, _: &I, _: bool, read: &mut R) -> Result<bool, R::Stop> {
        read.read(self).map(|()| true)
    }

    fn change<R: ReadElement>(
        &mut self,
        _: &I,
        _: &HandleSet,
        _: bool,
        read: &mut R,
    ) -> Option<Result<(), R::Stop>> {
        Some(read.read(self))
    }
}
