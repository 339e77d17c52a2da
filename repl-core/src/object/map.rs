//! How a map is reached, whatever its keys and values.
//!
//! Invariant: pointers that come out of a map are to its values, whose shape is the one in the map's own shape; they hold for as long as the
//! borrow that they came from.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use super::whole;
use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::key::KeyBits;
use crate::ids::reference::{Guid, Objects, ReferenceMap};
use crate::schema::erased::{Entries, News, RawEntry};
use crate::schema::limits;
use crate::schema::map::Map;
use crate::schema::property::Property;
use crate::schema::shape::{Field, Kind, MapShape, Shape};
use std::any::Any;
use std::any::type_name;
use std::ptr;

/// Resolves every reference to itself: keys name objects that may come later.
struct AllObjects;

impl Objects for AllObjects {
    fn contains(&self, _: Guid) -> bool {
        true
    }
}

const fn field_of<K: Property>() -> Field {
    Field::new("", 0, K::SHAPE)
}

fn read<K: Property>(reader: &mut BitReader<'_>) -> Result<K, ReadError> {
    whole::read(&field_of::<K>(), reader, &mut ReferenceMap::new(&AllObjects))
}

/// Reads a key that stands before other things; gives its form, and adds the objects that it mentions to `guids`.
fn read_key<K: Property>(reader: &mut BitReader<'_>, guids: &mut Vec<Guid>) -> Result<KeyBits, ReadError> {
    let start = reader.position();
    let mut references = ReferenceMap::new(&AllObjects);
    whole::read::<K>(&field_of::<K>(), reader, &mut references)?;
    guids.extend(references.take_mentioned());
    let bits = reader.slice(start..reader.position()).ok_or(ReadError::End)?;
    Ok(KeyBits::new(bits))
}

/// The key of this form.
fn key_of<K: Property>(form: &KeyBits) -> Option<K> {
    let mut reader = form.as_slice().reader();
    let key = read(&mut reader).ok()?;
    (reader.remaining() == 0).then_some(key)
}

fn form_of<K: Property>(key: &K) -> Result<KeyBits, WriteError> {
    let mut writer = BitWriter::new();
    whole::write(key, &field_of::<K>(), &mut writer)?;
    Ok(KeyBits::new(writer.as_slice()))
}

/// The form of a key, which is its own only if it reads back as that key.
fn own_form_of<K: Property + PartialEq>(key: &K) -> Result<KeyBits, WriteError> {
    let form = form_of(key)?;
    match key_of::<K>(&form) {
        Some(read) if read == *key => Ok(form),
        _ => Err(WriteError::Other("the key reads back as another")),
    }
}

#[expect(clippy::expect_used, reason = "two objects of one class, whatever a peer sends")]
fn typed<M: Map>(other: &dyn Entries) -> &M {
    other.as_any().downcast_ref().expect("a shape reaches maps of one type")
}

impl<M: Map> Entries for M {
    fn len(&self) -> usize {
        Map::len(self)
    }

    fn value(&self, key: &KeyBits) -> Option<*const u8> {
        Map::value(self, &key_of(key)?).map(|value| ptr::from_ref(value).cast())
    }

    fn value_mut(&mut self, key: &KeyBits) -> Option<*mut u8> {
        Map::value_mut(self, &key_of(key)?).map(|value| ptr::from_mut(value).cast())
    }

    fn insert(&mut self, key: &KeyBits) -> Option<*mut u8> {
        key_of(key).map(|key| ptr::from_mut(Map::insert(self, key)).cast())
    }

    fn remove(&mut self, key: &KeyBits) {
        if let Some(key) = key_of(key) {
            Map::remove(self, &key);
        }
    }

    fn keys(&self) -> Vec<KeyBits> {
        let mut keys = Vec::with_capacity(Map::len(self));
        self.each(&mut |key, _| keys.extend(own_form_of(key)));
        keys.sort_unstable();
        keys
    }

    fn try_keys(&self) -> Result<Vec<KeyBits>, WriteError> {
        let (mut keys, mut refused) = (Vec::with_capacity(Map::len(self)), None);
        self.each(&mut |key, _| match own_form_of(key) {
            Ok(form) => keys.push(form),
            Err(error) => refused = Some(error),
        });
        keys.sort_unstable();
        refused.map_or(Ok(keys), Err)
    }

    fn is_same(&self, other: &dyn Entries, is_same: &mut dyn FnMut(*const u8, *const u8) -> bool) -> bool {
        let other = typed::<M>(other);
        let mut same = Map::len(self) == Map::len(other);
        self.each(&mut |key, value| {
            same = same
                && Map::value(other, key)
                    .is_some_and(|other| is_same(ptr::from_ref(value).cast(), ptr::from_ref(other).cast()));
        });
        same
    }

    fn follow(&mut self, live: &dyn Entries, visit: &mut dyn FnMut(RawEntry<'_>)) {
        let live = typed::<M>(live);
        let mut present = 0_usize;
        live.each(&mut |key, value| {
            let value = ptr::from_ref(value).cast();
            if let Some(shadow) = Map::value_mut(self, key) {
                present = present.saturating_add(1);
                visit(RawEntry::Kept(value, ptr::from_mut(shadow).cast(), &|| own_form_of(key)));
                return;
            }
            match own_form_of(key) {
                Ok(form) => {
                    present = present.saturating_add(1);
                    let shadow = ptr::from_mut(Map::insert(self, key.clone())).cast();
                    visit(RawEntry::Born(form, value, shadow));
                }
                Err(error) => visit(RawEntry::Refused(error)),
            }
        });
        if present == Map::len(self) {
            return;
        }
        self.retain(&mut |key| {
            let stays = Map::value(live, key).is_some();
            if !stays {
                visit(own_form_of(key).map_or_else(RawEntry::Refused, RawEntry::Removed));
            }
            stays
        });
    }

    fn copy_from(&mut self, other: &dyn Entries, copy: &mut dyn FnMut(*const u8, *mut u8)) {
        let other = typed::<M>(other);
        self.retain(&mut |key| Map::value(other, key).is_some());
        other.each(&mut |key, from| {
            if Map::value(self, key).is_none() {
                Map::insert(self, key.clone());
            }
            if let Some(to) = Map::value_mut(self, key) {
                copy(ptr::from_ref(from).cast(), ptr::from_mut(to).cast());
            }
        });
    }

    fn values_mut(&mut self, each: &mut dyn FnMut(*mut u8)) {
        self.each_mut(&mut |value| each(ptr::from_mut(value).cast()));
    }

    fn tell(&mut self, key: &KeyBits, news: News<'_>) {
        let Some(callbacks) = <M::Value as Property>::CALLBACKS else { return };
        let Some(value) = key_of(key).and_then(|key| Map::value_mut(self, &key)) else { return };
        match news {
            News::Removing => (callbacks.removing)(value),
            News::Added => (callbacks.added)(value),
            News::Changed(handles) => (callbacks.changed)(value, handles),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn as_ref<M: Map>(map: *const u8) -> *const dyn Entries {
    map.cast::<M>()
}

fn as_mut<M: Map>(map: *mut u8) -> *mut dyn Entries {
    map.cast::<M>()
}

fn with_initial<M: Map>(with: &mut dyn FnMut(*mut u8)) {
    let mut value = M::Value::initial();
    with(ptr::from_mut(&mut value).cast());
}

/// Gives each map type its shape as a constant of its own.
pub(crate) trait MapShaped: Map {
    const MAP: MapShape = MapShape {
        key: <Self::Key as Property>::SHAPE,
        value: <Self::Value as Property>::SHAPE,
        is_set: Self::IS_SET,
        max_len: limits::MAX_ITEMS,
        has_callbacks: <Self::Value as Property>::CALLBACKS.is_some(),
        as_ref: as_ref::<Self>,
        as_mut: as_mut::<Self>,
        read_key: read_key::<Self::Key>,
        with_initial: with_initial::<Self>,
    };
}

impl<M: Map> MapShaped for M {}

impl Shape {
    /// The shape of a map or set.
    pub(crate) const fn map<M: Map>(name: &'static str) -> Self {
        let kind = Kind::Map(const { &M::MAP });
        Self { name, rust_name: type_name::<M>, size: size_of::<M>(), bitwise: false, kind }
    }
}
