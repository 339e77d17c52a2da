//! Access to collections of unknown type: to the items of fast arrays by id, and to the entries of maps by
//! the bits of their keys.
//!
//! *Invariant:* a pointer that a collection returns points to one of the elements of the collection, and this
//! element has the element shape of the collection. The pointer is valid as long as the collection is
//! borrowed.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::any::{Any, type_name};
use std::ptr;

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::epoch::Epoch;
use crate::ids::guid::Guid;
use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::item_list::ItemForm;
use crate::ids::key::KeyBits;
use crate::ids::key_list::KeyForm;
use crate::ids::label::Label;
use crate::ids::reference::{Objects, ReferenceMap};
use crate::object::whole;
use crate::schema::contents::may_refer;
use crate::schema::erased::{Collection, Named, RawStep};
use crate::schema::keyed::{Keyed, KeyedReplica, KeyedShadow, Preload};
use crate::schema::limits;
use crate::schema::map::Map;
use crate::schema::property::Property;
use crate::schema::shape::{CollectionShape, Field, Kind, MapShape, Shape};
use crate::schema::step::{ReceivedChange, Step};

#[expect(clippy::expect_used, reason = "two objects of one class, whatever a peer sends")]
fn typed<I: Identity, T: 'static>(other: &dyn Collection<I>) -> &T {
    other.as_any().downcast_ref().expect("a shape reaches collections of one type")
}

impl<A: KeyedShadow + KeyedReplica + Preload> Collection<ItemId> for A {
    fn len(&self) -> usize {
        Keyed::len(self)
    }

    fn ids(&self) -> Vec<ItemId> {
        let mut ids = Vec::with_capacity(Keyed::len(self));
        Keyed::ids(self, &mut |id| ids.push(id));
        ids.sort_unstable();
        ids
    }

    fn is_same_whole(
        &self,
        other: &dyn Collection<ItemId>,
        is_same: &mut dyn FnMut(*const u8, *const u8) -> bool,
    ) -> bool {
        let other = typed::<_, A>(other);
        let (mut ids, mut same) =
            (Vec::with_capacity(Keyed::len(other)), Keyed::len(self) == Keyed::len(other));
        Keyed::ids(other, &mut |id| ids.push(id));
        let mut ids = ids.into_iter();
        Keyed::ids(self, &mut |id| {
            let both = self.element(&id).zip(ids.next().and_then(|id| other.element(&id)));
            same = same && both.is_some_and(|(one, other)| is_same(one, other));
        });
        same
    }

    fn element(&self, &id: &ItemId) -> Option<*const u8> {
        self.item(id).map(|item| ptr::from_ref(item).cast())
    }

    fn element_mut(&mut self, &id: &ItemId) -> Option<*mut u8> {
        self.item_mut(id).map(|item| ptr::from_mut(item).cast())
    }

    fn each(&mut self, each: &mut dyn FnMut(*mut u8)) {
        for id in Collection::ids(self) {
            self.element_mut(&id).into_iter().for_each(&mut *each);
        }
    }

    fn label(&self, &id: &ItemId) -> Option<&Label> {
        Keyed::label(self, id)
    }

    fn preload(&self, &id: &ItemId) {
        Preload::preload(self, id);
    }

    fn is_up_to_date(&self, live: &dyn Collection<ItemId>) -> Option<bool> {
        Some(KeyedShadow::is_up_to_date(self, typed(live)))
    }

    fn follow(
        &mut self,
        live: &dyn Collection<ItemId>,
        _: &mut BitWriter,
        visit: &mut dyn FnMut(Named<'_, ItemId>, RawStep),
    ) -> bool {
        KeyedShadow::follow(self, typed(live), &mut |id, step| {
            let erased = step.map(|live| ptr::from_ref(live).cast(), |shadow| ptr::from_mut(shadow).cast());
            visit(Named::Known(id), erased);
        })
    }

    fn remove_unsendable(&mut self, &id: &ItemId, _: &dyn Collection<ItemId>) {
        KeyedShadow::remove_unsendable(self, id);
    }

    fn copy_from(&mut self, other: &dyn Collection<ItemId>, copy: &mut dyn FnMut(*const u8, *mut u8)) {
        KeyedShadow::copy_from(self, typed(other), &mut |from, to| {
            copy(ptr::from_ref(from).cast(), ptr::from_mut(to).cast());
        });
    }

    fn renumber(&mut self) {
        Keyed::renumber(self);
    }

    fn become_replica(&mut self) {
        KeyedReplica::become_replica(self);
    }

    fn is_replica(&self) -> bool {
        KeyedReplica::is_replica(self)
    }

    fn own(&mut self) {
        KeyedReplica::own(self);
    }

    fn edits(&self, live: &dyn Collection<ItemId>) -> Option<Vec<ItemId>> {
        KeyedShadow::edits(self, typed(live))
    }

    fn follow_edits(&mut self, live: &dyn Collection<ItemId>) {
        KeyedShadow::follow_edits(self, typed(live));
    }

    fn remove_local(&mut self) {
        KeyedReplica::remove_local(self);
    }

    fn insert(&mut self, &id: &ItemId) -> Option<*mut u8> {
        Some(ptr::from_mut(self.received_whole(id)).cast())
    }

    fn receive(&mut self, &id: &ItemId, change: ReceivedChange<'_>, _: bool) {
        KeyedReplica::receive(self, id, change);
    }

    fn sweep(&mut self) -> Vec<ItemId> {
        self.received_sweep();
        Vec::new()
    }

    fn marked_for_removal(&self, each: &mut dyn FnMut(ItemId)) {
        KeyedReplica::marked_for_removal(self, each);
    }

    fn received(&mut self, each: &mut dyn FnMut(*mut u8)) {
        KeyedReplica::received(self, &mut |item| each(ptr::from_mut(item).cast()));
    }

    fn has_received_changes(&self) -> Option<bool> {
        Some(KeyedReplica::has_received_changes(self))
    }

    fn conclude(&mut self, with_callbacks: bool) {
        KeyedReplica::conclude(self, with_callbacks);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<M: Map> Collection<KeyBits> for M {
    fn len(&self) -> usize {
        Map::len(self)
    }

    fn ids(&self) -> Vec<KeyBits> {
        let mut keys = Vec::with_capacity(Map::len(self));
        let mut writer = BitWriter::new();
        Map::each(self, &mut |key, _| keys.extend(form_of(key, &mut writer)));
        keys.sort_unstable();
        keys
    }

    fn elements_of_unit(&self, epoch: Epoch) -> Result<Vec<(KeyBits, *const u8)>, WriteError> {
        let (mut elements, mut refused) = (Vec::with_capacity(Map::len(self)), None);
        let mut writer = BitWriter::new();
        writer.set_epoch(epoch.offset());
        Map::each(self, &mut |key, value| match form_of(key, &mut writer) {
            Ok(form) => elements.push((form, ptr::from_ref(value).cast())),
            Err(_) if is_outdated(key, &mut writer) => {}
            Err(error) => refused = Some(error),
        });
        elements.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        refused.map_or(Ok(elements), Err)
    }

    fn element(&self, id: &KeyBits) -> Option<*const u8> {
        self.value(&key_of(id)?).map(|value| ptr::from_ref(value).cast())
    }

    fn element_mut(&mut self, id: &KeyBits) -> Option<*mut u8> {
        self.value_mut(&key_of(id)?).map(|value| ptr::from_mut(value).cast())
    }

    fn each(&mut self, each: &mut dyn FnMut(*mut u8)) {
        self.each_mut(&mut |value| each(ptr::from_mut(value).cast()));
    }

    fn is_same(
        &self,
        other: &dyn Collection<KeyBits>,
        is_same: &mut dyn FnMut(*const u8, *const u8) -> bool,
    ) -> bool {
        let other = typed::<_, M>(other);
        let mut is_same = |one: &M::Value, other: &M::Value| {
            is_same(ptr::from_ref(one).cast(), ptr::from_ref(other).cast())
        };
        let mut same = Map::len(self) == Map::len(other);
        if let Some(touched) = other.touched(self) {
            return same
                && touched.iter().all(|key| match (self.value(key), other.value(key)) {
                    (Some(one), Some(other)) => is_same(one, other),
                    (one, other) => one.is_none() && other.is_none(),
                });
        }
        Map::each(self, &mut |key, value| {
            same = same && other.value(key).is_some_and(|other| is_same(value, other));
        });
        same
    }

    fn is_up_to_date(&self, live: &dyn Collection<KeyBits>) -> Option<bool> {
        self.touched(typed(live)).map(<[_]>::is_empty)
    }

    /// Visits the entries that were written to, or all entries if the map does not record writes.
    fn follow(
        &mut self,
        live: &dyn Collection<KeyBits>,
        writer: &mut BitWriter,
        visit: &mut dyn FnMut(Named<'_, KeyBits>, RawStep),
    ) -> bool {
        let live = typed::<_, M>(live);
        match self.touched(live) {
            Some(touched) => touched.iter().for_each(|key| follow_entry(self, live, key, writer, visit)),
            None => follow_all(self, live, writer, visit),
        }
        self.followed(live);
        false
    }

    fn remove_unsendable(&mut self, id: &KeyBits, live: &dyn Collection<KeyBits>) {
        key_of(id).into_iter().for_each(|key| self.remove(&key));
        // The removal is a part of updating the shadow. Without this call, the map would record it as a later
        // write.
        self.followed(typed(live));
    }

    fn copy_from(&mut self, other: &dyn Collection<KeyBits>, copy: &mut dyn FnMut(*const u8, *mut u8)) {
        let other = typed::<_, M>(other);
        let mut copy_entry = |map: &mut M, key: &M::Key, from: &M::Value| {
            let to = match map.value_mut(key) {
                Some(to) => ptr::from_mut(to),
                None => ptr::from_mut(Map::insert(map, key.clone())),
            };
            copy(ptr::from_ref(from).cast(), to.cast());
        };
        if let Some(touched) = self.touched(other) {
            for key in touched {
                match other.value(key) {
                    Some(from) => copy_entry(self, key, from),
                    None => self.remove(key),
                }
            }
        } else {
            self.retain(&mut |key| other.value(key).is_some());
            Map::each(other, &mut |key, from| copy_entry(self, key, from));
        }
        self.followed(other);
    }

    fn insert(&mut self, id: &KeyBits) -> Option<*mut u8> {
        key_of(id).map(|key| ptr::from_mut(Map::insert(self, key)).cast())
    }

    fn insert_in_unit(
        &mut self,
        id: &KeyBits,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Option<*mut u8>, ReadError> {
        let mut reader = id.as_slice().reader();
        let read = |references: &mut ReferenceMap<'_>| {
            whole::read::<M::Key>(&field_of::<M::Key>(), &mut reader, references)
        };
        let (key, is_shown) = references.read_all_known(read);
        let key = key?;
        Ok(is_shown.then(|| ptr::from_mut(Map::insert(self, key)).cast()))
    }

    fn receive(&mut self, id: &KeyBits, change: ReceivedChange<'_>, calls_back: bool) {
        let callbacks = <M::Value as Property>::CALLBACKS.filter(|_| calls_back);
        if callbacks.is_none() && !matches!(change, ReceivedChange::Removed) {
            return;
        }
        let Some(key) = key_of(id) else { return };
        if let Some(callbacks) = callbacks
            && let Some(value) = self.value_mut(&key)
        {
            match change {
                ReceivedChange::Added => (callbacks.added)(value),
                ReceivedChange::Changed(handles) => (callbacks.changed)(value, handles),
                ReceivedChange::Removed => (callbacks.removing)(value),
                ReceivedChange::Spared | ReceivedChange::Moved(_) => {}
            }
        }
        if let ReceivedChange::Removed = change {
            self.remove(&key);
        }
    }

    fn sweep(&mut self) -> Vec<KeyBits> {
        Collection::ids(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Updates the entry of a shadow that has the key `key`. Calls `visit` if `live` or the shadow has such an
/// entry. May be called several times with the same key.
fn follow_entry<M: Map>(
    shadow: &mut M,
    live: &M,
    key: &M::Key,
    writer: &mut BitWriter,
    visit: &mut dyn FnMut(Named<'_, KeyBits>, RawStep),
) {
    let Some(value) = live.value(key) else {
        if shadow.value(key).is_some() {
            shadow.remove(key);
            visit(form_of(key, writer).map_or_else(Named::Refused, Named::Known), Step::Removed);
        }
        return;
    };
    let live = ptr::from_ref(value).cast();
    match form_of(key, writer) {
        Ok(form) => {
            let step = match shadow.value_mut(key) {
                Some(shadow) => Step::Touched { live, shadow: ptr::from_mut(shadow).cast(), moved: false },
                None => Step::Added { live, shadow: ptr::from_mut(Map::insert(shadow, key.clone())).cast() },
            };
            visit(Named::Known(form), step);
        }
        // The shadow has no entry for a key without a wire form.
        Err(error) => visit(Named::Refused(error), Step::Removed),
    }
}

/// Updates all entries of a shadow, and calls `visit` for each of them. The bits of a key are computed only
/// for entries that have changed. Costs O(entries).
fn follow_all<M: Map>(
    shadow: &mut M,
    live: &M,
    writer: &mut BitWriter,
    visit: &mut dyn FnMut(Named<'_, KeyBits>, RawStep),
) {
    let mut present = 0_usize;
    Map::each(live, &mut |key, value| {
        if let Some(known) = shadow.value_mut(key) {
            present = present.saturating_add(1);
            let (live, shadow) = (ptr::from_ref(value).cast(), ptr::from_mut(known).cast());
            return visit(Named::Asked(&|| own_form_of(key)), Step::Touched { live, shadow, moved: false });
        }
        follow_entry(shadow, live, key, writer, visit);
        present = present.saturating_add(usize::from(shadow.value(key).is_some()));
    });
    if present != Map::len(shadow) {
        shadow.retain(&mut |key| {
            let stays = live.value(key).is_some();
            if !stays {
                visit(form_of(key, writer).map_or_else(Named::Refused, Named::Known), Step::Removed);
            }
            stays
        });
    }
}

/// Treats every object as existing, because keys may refer to objects that arrive later.
#[derive(Default)]
struct AllObjects(Epoch);

impl Objects for AllObjects {
    fn contains(&self, _: Guid) -> bool {
        true
    }

    fn epoch(&self) -> Epoch {
        self.0
    }
}

const fn field_of<K: Property>() -> Field {
    Field::new("", 0, K::SHAPE)
}

/// Reads a key and returns its bits. The guids of the objects to which the key refers are added to `guids`.
fn read_key<K: Property>(reader: &mut BitReader<'_>, guids: &mut Vec<Guid>) -> Result<KeyBits, ReadError> {
    let start = reader.position();
    let objects = AllObjects::default();
    let mut references = ReferenceMap::new(&objects);
    whole::read::<K>(&field_of::<K>(), reader, &mut references)?;
    guids.extend(references.take_mentioned());
    let bits = reader.slice(start..reader.position()).ok_or(ReadError::End)?;
    Ok(KeyBits::new(bits))
}

/// Returns the key that has the bits `form`. Returns `None` if no key has the bits `form`.
fn key_of<K: Property>(form: &KeyBits) -> Option<K> {
    key_in(Epoch::default(), form)
}

/// Returns the key that has the bits `form`, with references of the epoch `epoch`.
fn key_in<K: Property>(epoch: Epoch, form: &KeyBits) -> Option<K> {
    let mut reader = form.as_slice().reader();
    let key = whole::read(&field_of::<K>(), &mut reader, &mut ReferenceMap::new(&AllObjects(epoch))).ok()?;
    (reader.remaining() == 0).then_some(key)
}

/// Returns the bits of a key. Returns an error if reading these bits returns another key.
fn own_form_of<K: Property + PartialEq>(key: &K) -> Result<KeyBits, WriteError> {
    form_of(key, &mut BitWriter::new())
}

/// Does the same as [`own_form_of`], with the memory and the epoch of `writer`. The old content of `writer`
/// does not matter.
fn form_of<K: Property + PartialEq>(key: &K, writer: &mut BitWriter) -> Result<KeyBits, WriteError> {
    writer.clear();
    whole::write(key, &field_of::<K>(), writer)?;
    let form = KeyBits::new(writer.as_slice());
    match key_in::<K>(Epoch::after(writer.epoch()), &form) {
        Some(read) if read == *key => Ok(form),
        _ => Err(WriteError::Other("the key reads back as another")),
    }
}

/// Returns whether a key has no wire form in the epoch of `writer`, because it refers to an object of an
/// earlier epoch.
pub(crate) fn is_outdated<K: Property + PartialEq>(key: &K, writer: &mut BitWriter) -> bool {
    writer.epoch() != 0 && form_of(key, writer).is_err() && own_form_of(key).is_ok()
}

fn as_ref<I: Identity, C: Collection<I>>(collection: *const u8) -> *const dyn Collection<I> {
    collection.cast::<C>()
}

fn as_mut<I: Identity, C: Collection<I>>(collection: *mut u8) -> *mut dyn Collection<I> {
    collection.cast::<C>()
}

fn with_initial<E: Property>(with: &mut dyn FnMut(*mut u8)) {
    let mut element = E::initial();
    with(ptr::from_mut(&mut element).cast());
}

impl<I: Identity> CollectionShape<I> {
    /// Returns the shape of the collection type `C` with elements of type `E`.
    const fn of<C: Collection<I>, E: Property>(has_callbacks: bool, form: I::Form) -> Self {
        Self {
            element: E::SHAPE,
            max_len: limits::MAX_ITEMS,
            has_callbacks,
            form,
            as_ref: as_ref::<I, C>,
            as_mut: as_mut::<I, C>,
            with_initial: with_initial::<E>,
        }
    }
}

impl Shape {
    /// Returns the shape of a collection of items with ids.
    #[must_use]
    pub const fn keyed<A: KeyedShadow + KeyedReplica + Preload>(name: &'static str) -> Self {
        let kind = Kind::Items(
            const { &CollectionShape::of::<A, A::Item>(A::HAS_CALLBACKS, ItemForm { is_ordered: A::ORDERED }) },
        );
        Self { name, rust_name: type_name::<A>, size: size_of::<A>(), bitwise: false, kind, form: None }
    }

    /// Returns the shape of a map or set.
    #[must_use]
    pub const fn map<M: Map>(name: &'static str) -> Self {
        let kind = Kind::Entries(
            const {
                &MapShape {
                    elements: CollectionShape::of::<M, M::Value>(
                        <M::Value as Property>::CALLBACKS.is_some(),
                        KeyForm {
                            read: read_key::<M::Key>,
                            may_refer: may_refer(<M::Key as Property>::SHAPE.native()),
                        },
                    ),
                    key: <M::Key as Property>::SHAPE,
                    is_set: M::IS_SET,
                }
            },
        );
        Self { name, rust_name: type_name::<M>, size: size_of::<M>(), bitwise: false, kind, form: None }
    }
}
