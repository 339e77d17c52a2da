//! The views of a client: how it sees each object. A client may own the object, record a replay, have
//! switches of its own, have the default view, or not see the object at all.
//!
//! *Invariant:* if a client has an object and receives its shared data, the client has the default view of
//! it, and the object is in its sight or visible to everyone.

use std::collections::BTreeMap;

use repl_core::{ConditionMasks, HandleSet, PropertyIndex, ViewFlags};
use repl_link::ConnectionId;
use repl_link::parts::Sequence;

use super::last_states::LastStates;
use super::undecided::Undecided;
use crate::body::role::Proxy;
use crate::body::slot_set::SlotSet;
use crate::body::sparse_slots::SparseSlots;
use crate::server::cells::area::{Band, Position, Ring};
use crate::server::cells::rule::Rule;
use crate::server::cells::sight::{Sight, Span};
use crate::server::cells::{Group, Home, Relevancy};
use crate::server::object::Object;
use crate::server::out_of_sight::OutOfSight;
use crate::server::verdicts::Verdicts;
use crate::server::world::World;

/// How one client sees the objects.
#[derive(Debug)]
pub(crate) struct View {
    id: ConnectionId,
    is_replay: bool,
    /// Objects whose shared data this client does not receive, including objects that the client does not
    /// have: their view is not the default view, or the client sees them although their cells are out of its
    /// sight.
    pub(super) own: SparseSlots,
    /// Objects that the client owns, including objects that it does not have yet. The openings of objects
    /// that a client owns are encoded separately for this client.
    pub(super) owned: SparseSlots,
    /// Objects that are hidden from the client. Objects can be hidden even before the client's first packet
    /// has arrived.
    pub(super) hidden: SparseSlots,
    /// The cells that the client has in sight. `None` if the client has never had viewpoints or groups.
    pub(super) sight: Option<Box<Sight>>,
    /// What the functions of classes have decided about the client. `None` before their first calls.
    pub(super) verdicts: Option<Box<Verdicts>>,
    /// State that most clients do not have.
    rare: Option<Box<Rare>>,
}

/// The state of a view that most clients do not have. It is in a box, so that a connection without such state
/// takes less memory.
#[derive(Debug, Default)]
struct Rare {
    /// For each slot, the handles of those properties with custom conditions that are switched differently
    /// for this connection than in their declaration.
    switched: BTreeMap<u32, HandleSet>,
    /// Objects that are so far away that the client may not see their `NearOnly` properties, including
    /// objects that it does not have.
    far: SparseSlots,
    /// Objects that are paused only for this connection, including objects that the client does not have.
    paused: SparseSlots,
    /// The changes of the view that the next tick must decide about.
    undecided: Undecided,
    /// The last states of objects that were removed from the server.
    last_states: LastStates,
    /// The objects out of sight that the client keeps, and whose end it must be told.
    ends_told: SparseSlots,
    /// The objects that are torn off, until the client has their last state. For each, the number of the next
    /// packet at the time when everything of the object had been sent, or `None` while something must still
    /// be sent.
    tear_offs: TearOffs,
}

/// The objects that are being torn off (see [`Rare::tear_offs`]).
pub(super) type TearOffs = BTreeMap<u32, Option<Sequence>>;

impl View {
    pub(super) fn new(id: ConnectionId, is_replay: bool) -> Self {
        let [own, owned, hidden] = std::array::from_fn(|_| SparseSlots::default());
        Self { id, is_replay, own, owned, hidden, sight: None, verdicts: None, rare: None }
    }

    /// Returns whether the client may have an object now. A client sees the objects that it owns and the
    /// objects in its sight, except objects that are hidden from it. If an object is attached to another
    /// object, it is hidden together with the other object, and the owner of the other object sees it, too
    /// (S188). The argument `is_shown` says whether the client has an object already, or will receive it.
    /// Such an object stays in sight longer (S190). The argument `ring` is what [`ring_of`](Self::ring_of)
    /// returns.
    #[inline]
    pub(super) fn sees(
        &self,
        world: &World,
        slot: u32,
        ring: Option<Ring>,
        is_shown: impl Fn(u32) -> bool,
    ) -> bool {
        let (mut is_owner, mut carrier) = (false, slot);
        let rule = loop {
            let rule = world.cells.rule(carrier);
            if self.is_withheld_by(world, carrier, rule) {
                return false;
            }
            is_owner |= self.is_owner(world, carrier);
            let Some(next) = rule.parent() else { break rule };
            carrier = next;
        };
        let ring = match world.cells.combination(rule) {
            Some(relevancy) if !is_owner => relevancy.ring(&|part| self.ring_by(world, carrier, part)),
            _ => ring,
        };
        is_owner || ring == Some(Ring::InSight) || ring == Some(Ring::Kept) && is_shown(carrier)
    }

    /// Returns whether an object is withheld from the client, even if the client owns it or is near it.
    /// `rule` is the rule of the object. Objects that are attached to the object are then withheld, too.
    #[inline]
    fn is_withheld_by(&self, world: &World, slot: u32, rule: Rule) -> bool {
        self.hidden.contains(slot)
            || rule == Rule::Nobody
            || world.dormancies.is_initial(slot)
            || !self.is_in_audience(world, slot)
    }

    /// Returns whether an object, or an object to which it is attached, is withheld from the client.
    fn is_withheld(&self, world: &World, slot: u32) -> bool {
        let rule = |carrier| world.cells.rule(carrier);
        world.cells.carriers(slot).any(|carrier| self.is_withheld_by(world, carrier, rule(carrier)))
    }

    /// Returns the setting with which the client keeps an object that it may no longer see, or `None` if the
    /// client must remove the object.
    pub(crate) fn keeping(&self, world: &World, slot: u32) -> Option<OutOfSight> {
        let top = world.subobjects.top(slot);
        let setting = world.out_of_sight.of(top, world.store.occupant(top).class);
        let is_kept = setting.is_kept
            && world.store.occupant(slot).alive
            && !world.store.objects[slot as usize].is_torn_off()
            && !world.paths.is_static(slot)
            && (setting.is_kept_if_hidden || !self.is_withheld(world, slot));
        is_kept.then_some(setting)
    }

    /// Sets whether the client must be told if an object out of sight is removed from the server.
    pub(super) fn set_end_told(&mut self, slot: u32, is_told: bool) {
        if is_told || self.rare.is_some() {
            self.rare.get_or_insert_default().ends_told.set(slot, is_told);
            self.free_rare();
        }
    }

    pub(super) fn forget_ends_told(&mut self) {
        self.rare.iter_mut().for_each(|rare| rare.ends_told = SparseSlots::default());
        self.free_rare();
    }

    pub(super) fn ends_told_bytes(&self) -> usize {
        self.rare.as_ref().map_or(0, |rare| rare.ends_told.heap_bytes())
    }

    pub(super) fn is_end_told(&self, slot: u32) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.ends_told.contains(slot))
    }

    fn is_owner(&self, world: &World, slot: u32) -> bool {
        world.store.objects[slot as usize].owner() == Some(self.id)
    }

    /// Returns whether an object is in sight or only kept by a relevancy that is not combined. Returns `None`
    /// if it is neither.
    fn ring_by(&self, world: &World, slot: u32, relevancy: &Relevancy) -> Option<Ring> {
        let is_seen = match relevancy {
            Relevancy::Located => return self.ring_of(world, slot),
            Relevancy::Always => true,
            Relevancy::OwnerOnly => self.is_owner(world, slot),
            Relevancy::Group(group) => self.is_in(*group),
            Relevancy::Computed => {
                self.verdicts.as_ref().is_some_and(|verdicts| verdicts.seen.contains(slot))
            }
            _ => false,
        };
        is_seen.then_some(Ring::InSight)
    }

    /// Returns what the client lacks to see an object by a combination. Returns `None` if the relevancy is
    /// not a combination, or shows the object.
    pub(crate) fn lacking(&self, world: &World, slot: u32, combination: &Relevancy) -> Option<Relevancy> {
        let is_combination = combination.is_combination();
        is_combination.then(|| combination.lacking(&|part| self.ring_by(world, slot, part))).flatten()
    }

    pub(super) fn is_in(&self, group: Group) -> bool {
        self.sight.as_ref().is_some_and(|sight| sight.is_in(group))
    }

    /// Returns whether the client owns an object, or an object to which it is attached.
    pub(crate) fn is_owner_of_any(&self, world: &World, slot: u32) -> bool {
        let mut carriers = world.cells.carriers(slot);
        carriers.any(|carrier| world.store.objects[carrier as usize].owner() == Some(self.id))
    }

    /// Returns whether an object is in sight or only kept. Returns `None` if it is neither.
    pub(crate) fn ring_of(&self, world: &World, slot: u32) -> Option<Ring> {
        match world.cells.home(slot) {
            Home::Everyone => Some(Ring::InSight),
            Home::NoCell => None,
            Home::Cell(cell) => world.cells.nearness(cell, self.id).map(|nearness| nearness.ring),
        }
    }

    pub(crate) fn has_viewpoints(&self) -> bool {
        self.sight.as_ref().is_some_and(|sight| !sight.viewpoints().is_empty())
    }

    /// Returns whether an object, or an object to which it is attached, is hidden from the client.
    #[inline]
    pub(crate) fn is_hidden(&self, world: &World, slot: u32) -> bool {
        let is_any_hidden = || world.cells.carriers(slot).any(|carrier| self.hidden.contains(carrier));
        !self.hidden.is_empty() && is_any_hidden()
    }

    #[inline]
    pub(crate) fn owns(&self, slot: u32) -> bool {
        self.owned.contains(slot)
    }

    /// Returns the objects that the client may see even if their cells are out of its sight: those that it
    /// owns, those whose relevancy is a combination, and all objects that are attached to them.
    pub(crate) fn seen_from_afar(&self, world: &World) -> Vec<u32> {
        let slots = self.owned.iter().chain(world.cells.combined().iter());
        slots.flat_map(|slot| world.cells.with_attached(slot)).collect()
    }

    #[inline]
    pub(crate) fn is_in_audience(&self, world: &World, slot: u32) -> bool {
        if world.audiences.is_empty() {
            return true;
        }
        let audience = world.audiences.get(&slot);
        audience.is_none_or(|audience| audience.ring(&|part| self.ring_by(world, slot, part)).is_some())
    }

    /// Returns the objects that the client sees when its session begins.
    pub(crate) fn seen(&self, world: &World) -> SlotSet {
        let cells = &world.cells;
        let mut seen = cells.everyone().clone();
        let in_sight = self.sight.iter().flat_map(|sight| sight.cells());
        let mut others: Vec<u32> = in_sight.flat_map(|(cell, _)| cells.members(cell)).copied().collect();
        let narrowed = world.audiences.keys().copied();
        for slot in self.owned.iter().chain(self.hidden.iter()).chain(narrowed) {
            others.extend(cells.with_attached(slot));
        }
        let decided = world.dormancies.initial().chain(cells.combined().iter());
        others.extend(decided.flat_map(|slot| cells.with_attached(slot)));
        for slot in others {
            seen.set(slot, self.sees(world, slot, self.ring_of(world, slot), |_| false));
        }
        for slot in self.paused(world).flat_map(|slot| cells.with_attached(slot)) {
            seen.remove(slot);
        }
        seen
    }

    /// Returns whether any object is paused for the client.
    #[inline]
    pub(crate) fn has_pauses(&self, world: &World) -> bool {
        !world.paused.is_empty() || self.rare.as_ref().is_some_and(|rare| !rare.paused.is_empty())
    }

    /// Returns whether an object is paused, for all connections or for this one.
    #[inline]
    pub(crate) fn is_paused(&self, world: &World, slot: u32) -> bool {
        world.paused.contains(slot) || self.is_paused_here(slot)
    }

    /// Returns whether an object is paused for this connection alone.
    pub(crate) fn is_paused_here(&self, slot: u32) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.paused.contains(slot))
    }

    /// Returns the paused objects among the 64 slots of a word, as a bit mask.
    pub(super) fn paused_in(&self, world: &World, word: usize) -> u64 {
        world.paused.word(word) | self.rare.as_ref().map_or(0, |rare| rare.paused.word(word))
    }

    fn paused<'a>(&'a self, world: &'a World) -> impl Iterator<Item = u32> + 'a {
        world.paused.iter().chain(self.rare.iter().flat_map(|rare| rare.paused.iter()))
    }

    /// Pauses an object for this connection, or ends this pause.
    pub(super) fn set_paused(&mut self, slot: u32, paused: bool) {
        self.rare.get_or_insert_default().paused.set(slot, paused);
        self.free_rare();
    }

    /// Returns the view flags of this connection for an object (S36).
    fn flags(&self, slot: u32, object: &Object) -> ViewFlags {
        self.flags_when_near(object).with_if(ViewFlags::FAR, self.is_far(slot))
    }

    fn flags_when_near(&self, object: &Object) -> ViewFlags {
        object.flags(object.owner() == Some(self.id), self.is_replay)
    }

    /// Returns whether the client may not see the `NearOnly` properties of an object, as of the last
    /// `review_distance`.
    pub(crate) fn is_far(&self, slot: u32) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.far.contains(slot))
    }

    pub(crate) fn is_far_from_any(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| !rare.far.is_empty())
    }

    /// Returns the properties of an object that this connection does not see because it is far from the
    /// object.
    pub(crate) fn hidden_by_distance(&self, world: &World, slot: u32) -> HandleSet {
        let object = &world.store.objects[slot as usize];
        let (conditions, switched) = (world.store.conditions(slot), self.switched_of(slot));
        let mut hidden = object.mask(conditions, self.flags_when_near(object), switched).into_owned();
        hidden.difference(&self.mask(world, slot));
        hidden
    }

    /// Returns whether the client may not see the `NearOnly` properties of an object now: its cell is far,
    /// and the client owns neither the object nor an object to which it is attached.
    pub(crate) fn is_far_now(&self, world: &World, slot: u32) -> bool {
        let owns = |carrier: u32| world.store.objects[carrier as usize].owner() == Some(self.id);
        world.cells.have_far()
            && world.store.conditions(slot).depend_on_distance()
            && self.has_far_cell(world, slot)
            && !world.cells.carriers(slot).any(owns)
            && !self.sees_from_everywhere(world, slot)
    }

    /// Returns whether the client sees an object by a combined relevancy, and would see it at any distance.
    fn sees_from_everywhere(&self, world: &World, slot: u32) -> bool {
        if world.cells.combined().is_empty() {
            return false;
        }
        let top = world.cells.carriers(slot).last().unwrap_or(slot);
        let by_rest = |part: &Relevancy| match part {
            Relevancy::Located => None,
            _ => self.ring_by(world, top, part),
        };
        let combination = world.cells.combination(world.cells.rule(top));
        combination.is_some_and(|relevancy| relevancy.ring(&by_rest).is_some())
    }

    fn has_far_cell(&self, world: &World, slot: u32) -> bool {
        match world.cells.home(slot) {
            Home::Cell(cell) => self.band_of(world, cell).is_some_and(|band| band.is_far),
            Home::Everyone | Home::NoCell => false,
        }
    }

    /// Returns the objects in cells in sight that are far.
    pub(crate) fn in_far_cells(&self, world: &World) -> Vec<u32> {
        let far = self.sight.iter().flat_map(|sight| sight.far_cells());
        far.flat_map(|cell| world.cells.members(cell)).copied().collect()
    }

    pub(super) fn set_far(&mut self, slot: u32, is_far: bool) {
        if is_far != self.is_far(slot) {
            self.rare.get_or_insert_default().far.set(slot, is_far);
            self.free_rare();
        }
    }

    /// Returns the handles of an object that this connection has switched to another state than the declared
    /// one.
    fn switched_of(&self, slot: u32) -> Option<&HandleSet> {
        self.rare.as_ref()?.switched.get(&slot)
    }

    /// Returns what this client must know about the owner and the role of an object.
    pub(crate) fn proxy(&self, object: &Object) -> Proxy {
        object.proxy(object.owner() == Some(self.id))
    }

    /// Returns the handles of an object that this connection may see now.
    pub(crate) fn mask(&self, world: &World, slot: u32) -> HandleSet {
        let object = &world.store.objects[slot as usize];
        object
            .mask(world.store.conditions(slot), self.flags(slot, object), self.switched_of(slot))
            .into_owned()
    }

    /// Returns the handles of an object that its first opening (update that creates it on the client) for
    /// this connection would contain now.
    pub(super) fn opening_mask(&self, world: &World, slot: u32) -> HandleSet {
        let object = &world.store.objects[slot as usize];
        let flags = self.flags(slot, object).with(ViewFlags::INITIAL);
        object.mask(world.store.conditions(slot), flags, self.switched_of(slot)).into_owned()
    }

    /// Returns whether the connection can send the shared data of an object, according to the current
    /// conditions, settings and position: the client must have the default view of the object, the object
    /// must not be paused, and either all clients see the object or its cell is in sight. The argument `ring`
    /// is what [`ring_of`](Self::ring_of) returns.
    pub(crate) fn is_shared_now(&self, world: &World, slot: u32, ring: Option<Ring>) -> bool {
        let object = &world.store.objects[slot as usize];
        let conditions = world.store.conditions(slot);
        ring.is_some()
            && !self.is_paused(world, slot)
            && self.switched_of(slot).is_none()
            && !self.would_be_delayed(world, slot)
            && (!conditions.is_conditional() || self.flags_when_near(object) == object.common_flags())
            && (!conditions.depend_on_distance() || self.is_far(slot) == self.has_far_cell(world, slot))
    }

    /// Returns whether bands (ranges of distances) may delay the shared data of an object, and this client
    /// must receive it in each tick, because it owns the object or sees it from everywhere. Such a client
    /// then does not receive the shared data.
    fn would_be_delayed(&self, world: &World, slot: u32) -> bool {
        world.cells.have_bands()
            && matches!(world.cells.home(slot), Home::Cell(_))
            && (self.is_owner(world, slot) || self.sees_from_everywhere(world, slot))
    }

    /// Returns whether the client receives the shared data of an object that it has or is receiving.
    pub(crate) fn is_shared(&self, slot: u32) -> bool {
        !self.own.contains(slot)
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    pub(crate) fn viewpoints(&self) -> &[Position] {
        self.sight.as_ref().map_or(&[], |sight| sight.viewpoints())
    }

    pub(crate) fn groups(&self) -> &[Group] {
        self.sight.as_ref().map_or(&[], |sight| sight.groups())
    }

    /// Returns the cells in sight as bit masks, in the order that [`Sight::spans`] describes.
    pub(crate) fn spans(&self) -> &[Span] {
        self.sight.as_ref().map_or(&[], |sight| sight.spans())
    }

    /// Returns the band of a cell, if it is in sight.
    pub(crate) fn band_of(&self, world: &World, cell: u32) -> Option<Band> {
        Some(world.cells.nearness(cell, self.id)?.band())
    }

    /// Returns the band of the cell of an object, if the object is in a cell in sight.
    pub(crate) fn band_of_object(&self, world: &World, slot: u32) -> Option<Band> {
        match world.cells.home(slot) {
            Home::Cell(cell) => self.band_of(world, cell),
            Home::Everyone | Home::NoCell => None,
        }
    }

    /// Returns whether the openings (first updates) for this client can be shared with other clients at all.
    /// This is false for a client that sees most objects in another way than most clients.
    pub(crate) fn shares_openings(&self) -> bool {
        !self.is_replay
    }

    /// Returns the mask of the objects in a word (of 64 slots) whose openings can be shared with other
    /// clients.
    pub(super) fn default_openings_in(&self, word: usize) -> u64 {
        if self.shares_openings() { !(self.own.word(word) | self.owned.word(word)) } else { 0 }
    }

    /// Returns whether the opening of an object can be shared with other clients.
    pub(super) fn is_default_opening(&self, slot: u32) -> bool {
        self.default_openings_in(slot as usize / 64) >> (slot % 64) & 1 == 1
    }

    pub(super) fn switch(
        &mut self,
        conditions: &ConditionMasks,
        slot: u32,
        property: PropertyIndex,
        active: bool,
    ) {
        let handles = conditions.handles_of(property);
        let is_as_declared = active != handles.intersects(conditions.starts_off());
        let rare = self.rare.get_or_insert_default();
        let switched = rare.switched.entry(slot).or_default();
        if is_as_declared {
            switched.difference(handles)
        } else {
            switched.union(handles)
        }
        if switched.is_empty() {
            rare.switched.remove(&slot);
            self.free_rare();
        }
    }

    /// Drops all settings for an object that is removed from the server, so that they do not apply to the
    /// next object in its slot.
    pub(super) fn forget(&mut self, slot: u32) {
        self.hidden.remove(slot);
        self.own.remove(slot);
        self.owned.remove(slot);
        if let Some(rare) = &mut self.rare {
            rare.switched.remove(&slot);
            rare.far.remove(slot);
            rare.paused.remove(slot);
            rare.undecided.forget(slot);
            self.free_rare();
        }
    }

    /// Returns whether this client has no settings of its own for an object, does not own it, and no rare
    /// state is stored.
    pub(super) fn is_plain(&self, slot: u32) -> bool {
        let sets = [&self.own, &self.owned, &self.hidden];
        self.rare.is_none() && !sets.into_iter().any(|set| set.contains(slot))
    }

    fn free_rare(&mut self) {
        let is_empty = |rare: &Rare| {
            rare.switched.is_empty()
                && rare.tear_offs.is_empty()
                && rare.far.is_empty()
                && rare.paused.is_empty()
                && rare.undecided.is_empty()
                && rare.last_states.is_empty()
                && rare.ends_told.is_empty()
        };
        if self.rare.as_deref().is_some_and(is_empty) {
            self.rare = None;
        }
    }

    pub(super) fn undecided(&self) -> Option<&Undecided> {
        self.rare.as_ref().map(|rare| &rare.undecided)
    }

    /// Lets `change` modify the list of changes that the next tick must decide about.
    pub(super) fn change_undecided<R>(&mut self, change: impl FnOnce(&mut Undecided) -> R) -> R {
        let result = change(&mut self.rare.get_or_insert_default().undecided);
        self.free_rare();
        result
    }

    pub(super) fn last_states(&self) -> Option<&LastStates> {
        self.rare.as_ref().map(|rare| &rare.last_states)
    }

    /// Lets `change` modify the stored last states of removed objects.
    pub(super) fn change_last_states<R>(&mut self, change: impl FnOnce(&mut LastStates) -> R) -> R {
        let result = change(&mut self.rare.get_or_insert_default().last_states);
        self.free_rare();
        result
    }

    /// Returns whether an object is torn off, and the client does not have all of its last state yet.
    pub(crate) fn is_tearing_off(&self, slot: u32) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.tear_offs.contains_key(&slot))
    }

    pub(super) fn begin_tear_off(&mut self, slot: u32) {
        self.rare.get_or_insert_default().tear_offs.insert(slot, None);
    }

    pub(super) fn end_tear_off(&mut self, slot: u32) {
        if let Some(rare) = &mut self.rare {
            rare.tear_offs.remove(&slot);
            self.free_rare();
        }
    }

    /// Returns whether objects are being torn off.
    pub(super) fn tears_off(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| !rare.tear_offs.is_empty())
    }

    /// Removes and returns the objects that are torn off. The caller must [put them
    /// back](Self::put_tear_offs).
    pub(super) fn take_tear_offs(&mut self) -> TearOffs {
        self.rare.as_mut().map_or_else(TearOffs::new, |rare| std::mem::take(&mut rare.tear_offs))
    }

    pub(super) fn put_tear_offs(&mut self, tear_offs: TearOffs) {
        if let Some(rare) = &mut self.rare {
            rare.tear_offs = tear_offs;
        }
    }
}
