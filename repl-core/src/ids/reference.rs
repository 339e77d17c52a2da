//! Identities of objects, and references between objects.
//!
//! *Invariant:* a guid names one object forever (R18). On a client, a reference in a replicated field is null
//! or names an object that the client has. Fields of torn-off objects (objects that no longer receive
//! updates) are the exception.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use super::delta_base::{DeltaBase, DeltaBases, ReceivedRendition};
use super::epoch::Epoch;
use super::guid::Guid;
use crate::bits::{BitReader, BitWriter, ReadError, Revision};
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;

/// A reference to a replicated object of type `T`, or null. Spawning an object returns a reference to it.
/// Fields can contain references. Index a server or a client with a reference to access the object.
///
/// On a client, a reference to an object that the client does not have reads as null. The reference becomes
/// valid automatically when the object arrives, and becomes null again when the client may no longer see the
/// object.
///
/// A reference can be the key of a map or an element of a set. While the client does not have the object to
/// which a key refers, the entry or element with this key is hidden, because two references that read as null
/// would be the same key.
#[repr(transparent)]
pub struct ObjectRef<T: ?Sized> {
    /// Contains the generation in the upper 32 bits and the slot in the lower 32 bits. The value zero is the
    /// null reference.
    raw: u64,
    object: PhantomData<fn() -> *const T>,
}

impl<T: ?Sized> ObjectRef<T> {
    /// The null reference, which refers to no object.
    pub const NULL: Self = Self { raw: 0, object: PhantomData };

    /// Returns a reference to the object called `guid`. Whether the object is a `T` is checked only when the
    /// reference is used.
    #[must_use]
    pub const fn new(guid: Guid) -> Self {
        Self { raw: (guid.generation().get() as u64) << 32 | guid.slot() as u64, object: PhantomData }
    }

    /// Returns the guid of the object. Returns `None` if the reference is null.
    #[must_use]
    pub const fn guid(self) -> Option<Guid> {
        match NonZeroU32::new((self.raw >> 32) as u32) {
            Some(generation) => Some(Guid::new(self.raw as u32, generation)),
            None => None,
        }
    }

    /// Returns whether the reference is null.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.raw == 0
    }

    /// Returns the same reference without the type of its object.
    #[must_use]
    pub const fn erase(self) -> ObjectRef<()> {
        ObjectRef { raw: self.raw, object: PhantomData }
    }
}

impl<T: ?Sized> Clone for ObjectRef<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for ObjectRef<T> {}

impl<T: ?Sized> Default for ObjectRef<T> {
    fn default() -> Self {
        Self::NULL
    }
}

impl<T: ?Sized> PartialEq for ObjectRef<T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<T: ?Sized> Eq for ObjectRef<T> {}

/// References are ordered by guid: by slot, and then by generation. The null reference comes before all other
/// references.
impl<T: ?Sized> Ord for ObjectRef<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.guid().cmp(&other.guid())
    }
}

impl<T: ?Sized> PartialOrd for ObjectRef<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: ?Sized> std::hash::Hash for ObjectRef<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

impl<T: ?Sized> fmt::Debug for ObjectRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.guid() {
            Some(guid) => guid.fmt(f),
            None => f.write_str("null"),
        }
    }
}

/// Tells which objects and assets exist on this side of the connection.
pub trait Objects {
    /// Returns whether the object or asset called `guid` exists.
    fn contains(&self, guid: Guid) -> bool;

    /// Returns the epoch of this side: the number that is added to the generations of the references that are
    /// read. Guids on the wire always belong to the first epoch.
    fn epoch(&self) -> Epoch {
        Epoch::default()
    }
}

/// Resolves references while a value is read, and collects the guids to which the value refers.
pub struct ReferenceMap<'a> {
    objects: &'a dyn Objects,
    mentioned: Vec<Guid>,
    /// The values to which differences are applied.
    bases: Option<&'a dyn DeltaBases>,
    /// The slot of the object that is being read, and the handle of its property.
    place: (u32, u32),
    renditions: Vec<ReceivedRendition>,
    /// The wire form of the value that was read last, if it was not read from this form.
    whole_form: Option<BitWriter>,
}

impl<'a> ReferenceMap<'a> {
    /// Makes a map that uses `objects` to check whether an object exists.
    #[must_use]
    pub fn new(objects: &'a dyn Objects) -> Self {
        Self {
            objects,
            mentioned: Vec::new(),
            bases: None,
            place: (0, 0),
            renditions: Vec::new(),
            whole_form: None,
        }
    }

    /// Lets differences be applied to the values in `bases`.
    #[must_use]
    pub fn with_bases(self, bases: &'a dyn DeltaBases) -> Self {
        Self { bases: Some(bases), ..self }
    }

    pub(crate) fn has_bases(&self) -> bool {
        self.bases.is_some()
    }

    /// Sets the slot of the object that is read next.
    pub fn begin_object(&mut self, slot: u32) {
        self.place = (slot, 0);
    }

    /// Sets the property of the object that is read next.
    pub(crate) fn begin_property(&mut self, handle: u32) {
        self.place.1 = handle;
    }

    /// Returns the value of the property that is being read with this revision, if it was kept.
    pub(crate) fn base(&self, revision: Revision) -> Option<DeltaBase> {
        let (slot, handle) = self.place;
        self.bases?.base(slot, handle, revision).cloned()
    }

    /// Records what was said of the bases of the property that is being read.
    pub(crate) fn note_rendition(&mut self, keeps: Option<(Revision, DeltaBase)>, base: Option<Revision>) {
        if keeps.is_some() || base.is_some() {
            self.renditions.push(ReceivedRendition { handle: self.place.1, keeps, base });
        }
    }

    /// Records from which form the value that was read last is read again when objects appear.
    pub(crate) fn set_whole_form(&mut self, form: BitWriter) {
        self.whole_form = Some(form);
    }

    /// Removes and returns the form from which the value that was read last is read again. `None` if this is
    /// the form from which it was read.
    pub(crate) fn take_whole_form(&mut self) -> Option<BitWriter> {
        self.whole_form.take()
    }

    /// Removes and returns what was said of the bases of properties since the last call of this function.
    pub fn take_renditions(&mut self) -> std::vec::Drain<'_, ReceivedRendition> {
        self.renditions.drain(..)
    }

    /// Returns a reference to the object `guid`, or null if the object does not exist. Records that the value
    /// that is being read refers to `guid`.
    pub fn resolve<T: ?Sized>(&mut self, guid: Guid) -> ObjectRef<T> {
        self.known(guid).map_or(ObjectRef::NULL, ObjectRef::new)
    }

    /// Converts `guid`, the guid of an object or asset on the wire, into the guid that this side uses for it.
    /// Returns `None` if it does not exist on this side. Records that the value that is being read refers to
    /// `guid`.
    pub(crate) fn known(&mut self, guid: Guid) -> Option<Guid> {
        self.mentioned.push(guid);
        self.objects.epoch().from_wire(guid).filter(|_| self.objects.contains(guid))
    }

    /// Calls `read`. Returns its result, and whether the value refers only to objects that exist.
    pub(crate) fn read_all_known<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let before = self.mentioned.len();
        let value = read(self);
        let mut mentioned = self.mentioned.iter().skip(before);
        let epoch = self.objects.epoch();
        (value, mentioned.all(|&guid| epoch.from_wire(guid).is_some() && self.objects.contains(guid)))
    }

    pub(crate) fn objects(&self) -> &'a dyn Objects {
        self.objects
    }

    /// Records that a reference to an object was read.
    pub(crate) fn mention(&mut self, guid: Guid) {
        self.mentioned.push(guid);
    }

    /// Removes and returns the guids that were read since the last call of this function.
    pub fn take_mentioned(&mut self) -> std::vec::Drain<'_, Guid> {
        self.mentioned.drain(..)
    }

    /// Returns whether any guid was read since the last call of [`take_mentioned`](Self::take_mentioned).
    #[must_use]
    pub fn any_mentioned(&self) -> bool {
        !self.mentioned.is_empty()
    }
}

/// Resolves every reference to null. Use `NoObjects` for code that reads values outside a connection.
pub struct NoObjects;

impl Objects for NoObjects {
    fn contains(&self, _: Guid) -> bool {
        false
    }
}

/// Resolves every reference, as if every object existed, with the guids of an epoch. Use `AnyObject` for code
/// that checks or prints values that another peer or another part of the program reads.
#[derive(Default)]
pub struct AnyObject(pub Epoch);

impl Objects for AnyObject {
    fn contains(&self, _: Guid) -> bool {
        true
    }

    fn epoch(&self) -> Epoch {
        self.0
    }
}

/// Writes a guid or null. The form of a guid is one bit, then the slot and the generation of the guid in
/// codes that are short for small numbers. A guid from before the [epoch](BitWriter::set_epoch) of the writer
/// is written as null.
#[inline]
pub fn write_guid(guid: Option<Guid>, writer: &mut BitWriter) {
    let guid = guid.and_then(|guid| Epoch::after(writer.epoch()).to_wire(guid));
    writer.write_bits(guid.is_some().into(), 1);
    if let Some(guid) = guid {
        writer.write_exp_golomb(guid.slot().into(), 6);
        writer.write_exp_golomb(u64::from(guid.generation().get()).saturating_sub(1), 2);
    }
}

/// Reads a guid or null that [`write_guid`] wrote.
///
/// # Errors
/// Returns an error if a number is too large for a guid.
#[inline]
pub fn read_guid(reader: &mut BitReader<'_>) -> Result<Option<Guid>, ReadError> {
    if reader.read_bits(1)? == 0 {
        return Ok(None);
    }
    let slot = u32::try_from(reader.read_exp_golomb(6)?).map_err(|_| ReadError::OutOfRange)?;
    let generation = reader.read_exp_golomb(2)?.checked_add(1).and_then(|g| u32::try_from(g).ok());
    let generation = generation.and_then(NonZeroU32::new).ok_or(ReadError::OutOfRange)?;
    let guid = Guid::new(slot, generation);
    if guid.is_of_object() { Ok(Some(guid)) } else { Err(ReadError::OutOfRange) }
}
