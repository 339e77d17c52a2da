//! Functions for leaves that are sent as differences. Each function is generic over the type of the leaf.
//!
//! *Invariant:* a function for one type is stored only in the shape of this type.
#![expect(unsafe_code, reason = "reaches values through their own functions")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitWriter, Head, ReadError, Rendition, Revision, WriteError};
use crate::ids::delta_base::DeltaBase;
use crate::ids::epoch::Epoch;
use crate::ids::reference::{AnyObject, ReferenceMap};
use crate::object::opaque::opaque_copy;
use crate::schema::attributes::CloneAsUnit;
use crate::schema::codec::Codec;
use crate::schema::delta::Delta;
use crate::schema::opaque::{DeltaLeaf, OpaqueLeaf};
use crate::schema::shape::{Shape, WireForm};
use crate::schema::value::NetSerialize;

/// # Safety
/// Both pointers point to an aligned `T`.
unsafe fn delta_identical<T: NetSerialize, D: Delta<T>>(a: *const u8, b: *const u8) -> bool {
    // SAFETY: the caller guarantees this.
    let a = unsafe { &*a.cast::<T>() };
    // SAFETY: the caller guarantees this.
    let b = unsafe { &*b.cast::<T>() };
    D::is_same(a, b)
}

/// # Safety
/// `value` points to an aligned `T`.
unsafe fn delta_write<T: NetSerialize, D: Delta<T>>(
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: the caller guarantees this.
    unsafe { rendition_write::<T, D>(value, &Rendition::default(), writer) }
}

/// # Safety
/// `value` points to an aligned `T`.
unsafe fn rendition_write<T: NetSerialize, D: Delta<T>>(
    value: *const u8,
    rendition: &Rendition,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: the caller guarantees this.
    let value = unsafe { &*value.cast::<T>() };
    rendition.write(writer, |writer| D::write_whole(value, writer))
}

/// # Safety
/// `to` points to an aligned `T` and is valid for writes.
unsafe fn delta_read<T: NetSerialize, D: Delta<T>>(
    to: *mut u8,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    let received = Received::<T>::read::<D>(reader, references)?;
    let keeps = received.keeps.map(|revision| (revision, received.base::<D>()));
    references.note_rendition(keeps, received.base);
    let value = received.resolve::<D>(references)?;
    // SAFETY: the caller guarantees this.
    unsafe { *to.cast::<T>() = value };
    Ok(())
}

/// Reads a value without storing it. Only its length is checked if it is a difference and no values were
/// kept.
fn validate<T: NetSerialize, D: Delta<T>>(
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    let is_skipped = !references.has_bases() && Head::read(&mut reader.clone())?.difference.is_some();
    if is_skipped {
        return Head::read(reader).map(drop);
    }
    Received::<T>::read::<D>(reader, references)?.resolve::<D>(references).map(drop)
}

/// A value that was read whole or from a difference.
struct Received<T> {
    /// The value as the sender has it: no reference is null because this side lacks the object.
    value: T,
    /// The wire form of the whole value, if it contains references.
    whole: Option<BitWriter>,
    /// The revision under which the value is kept.
    keeps: Option<Revision>,
    /// The revision of the base of the difference.
    base: Option<Revision>,
}

impl<T: NetSerialize> Received<T> {
    fn read<D: Delta<T>>(
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Self, ReadError> {
        let epoch = references.objects().epoch();
        let any = AnyObject(epoch);
        let mut sender = ReferenceMap::new(&any);
        let Head { keeps, difference } = Head::read(reader)?;
        let Some((revision, bits)) = difference else {
            let start = reader.position();
            let value = D::read_whole(reader, &mut sender)?;
            let bits = reader.slice(start..reader.position()).unwrap_or_default();
            let copy = |writer: &mut BitWriter| {
                writer.append(bits);
                Ok(())
            };
            let whole = sender.any_mentioned().then(|| whole_form(epoch, copy));
            return Ok(Self { value, whole: whole.transpose()?, keeps, base: None });
        };
        let base = references.base(revision).ok_or(NOT_KEPT)?;
        let mut bits = bits.reader();
        let value = D::read(base.state().ok_or(NOT_KEPT)?, &mut bits, &mut sender)?;
        read_end(&bits)?;
        let refers = base.refers() || sender.any_mentioned();
        let whole = refers.then(|| whole_form(epoch, |writer| D::write_whole(&value, writer)));
        Ok(Self { value, whole: whole.transpose()?, keeps, base: Some(revision) })
    }

    /// Returns what is stored of the value, so that differences can be applied to it.
    fn base<D: Delta<T>>(&self) -> DeltaBase {
        DeltaBase::of::<T, D>(&self.value, self.whole.is_some())
    }

    /// Returns the value as this side sees it. If it contains references, it is read again from its whole
    /// form, which is also the form from which it is read when their objects appear.
    fn resolve<D: Delta<T>>(self, references: &mut ReferenceMap<'_>) -> Result<T, ReadError> {
        let Some(mut whole) = self.whole else { return Ok(self.value) };
        whole.finish();
        let mut reader = whole.as_slice().reader();
        Head::read(&mut reader)?;
        let value = D::read_whole(&mut reader, references)?;
        // The references of the base may be gone. Then nothing is read again, and nobody takes the form.
        if references.any_mentioned() {
            references.set_whole_form(whole);
        }
        Ok(value)
    }
}

const NOT_KEPT: ReadError = ReadError::Other("a difference to a value that was not kept");

/// Returns the wire form of a whole value that nobody keeps. `write` writes the value.
fn whole_form(
    epoch: Epoch,
    write: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
) -> Result<BitWriter, ReadError> {
    let mut writer = BitWriter::new();
    writer.set_epoch(epoch.offset());
    Rendition::default().write(&mut writer, write).map_err(|_| ReadError::OutOfRange)?;
    Ok(writer)
}

/// Checks that everything was read of a difference.
fn read_end(bits: &BitReader<'_>) -> Result<(), ReadError> {
    if bits.remaining() > 0 { Err(ReadError::OutOfRange) } else { Ok(()) }
}

impl DeltaLeaf {
    const fn of<T: NetSerialize, D: Delta<T>>() -> Self {
        Self {
            is_string: D::STRINGS.is_some(),
            write: rendition_write::<T, D>,
            base: |value| {
                // SAFETY: the caller guarantees that `value` points to an aligned `T`.
                DeltaBase::of::<T, D>(unsafe { &*value.cast::<T>() }, false)
            },
            difference: |base, value, writer| {
                let state = base.state::<D::State>().ok_or(WriteError::Other("a base of another type"))?;
                // SAFETY: the caller guarantees that `value` points to an aligned `T`.
                D::write(state, unsafe { &*value.cast::<T>() }, writer)
            },
        }
    }
}

impl Shape {
    /// Returns the shape of a field that is sent as differences. Like a type that serialises itself, it has
    /// one command in the program.
    #[must_use]
    pub const fn delta<T: NetSerialize + CloneAsUnit, D: Delta<T>>() -> Self {
        let form = const { &WireForm::delta::<T, D>() };
        let leaf = OpaqueLeaf {
            checksum: form.checksum,
            identical: delta_identical::<T, D>,
            copy: opaque_copy::<T>,
            write: delta_write::<T, D>,
            read: delta_read::<T, D>,
            validate: validate::<T, D>,
            delta: Some(const { &DeltaLeaf::of::<T, D>() }),
        };
        let shape = Self::leaf::<T>(T::WIRE_NAME, false, Codec::Opaque(leaf));
        Self { form: Some(form), ..shape }
    }
}
