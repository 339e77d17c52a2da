//! The state of one object on the server that all connections share.
//!
//! *Invariant:* a free slot has the state of a new object, so the next object does not inherit state from the
//! previous object in the slot.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};

use repl_core::__private::preload;
use repl_core::{Condition, ConditionMasks, HandleSet, History, PropertyIndex, Refusal, ViewFlags};
use repl_link::ConnectionId;

use crate::body::role::{Proxy, Role};

/// The state of one object. [`Occupant`](super::occupant::Occupant) says which object it is.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Object {
    pub(crate) tear_off: TearOff,
    /// The number of connections that have not yet sent all changelists in the history of this object.
    /// Atomic, because the passes of several connections may run at the same time.
    laggards: AtomicU32,
    pub(crate) history: History,
    /// State that most objects do not have. It is stored separately, so that all other state fits into one
    /// cache line.
    rare: Option<Box<RareState>>,
    pub(crate) role: Role,
    pub(crate) physics: bool,
    /// The number of connections that use the slot for this object, plus one for a destroyed path. It is only
    /// counted after the object was removed.
    pub(crate) holders: u32,
}

/// Whether an object was torn off (S210).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TearOff {
    No,
    /// The object was torn off. The next tick compares its last state.
    Begun,
    /// The last state was compared. The object is never compared again, so its shadow keeps this state.
    Frozen,
}

/// State that only some objects have.
#[derive(Debug, Default)]
struct RareState {
    /// The connection that owns the object, directly or through other objects.
    owner: Option<ConnectionId>,
    archetype: u32,
    /// Handles of properties with custom conditions that are switched off for all connections. Properties
    /// that are switched off for all connections are neither compared nor sent (S45).
    custom_off: HandleSet,
    /// Conditions that were set for properties of this object at run time.
    dynamic: Vec<(PropertyIndex, Condition)>,
    /// The frame (number of the tick) in which each property last changed, or zero if it never changed. The
    /// frames of changes are recorded only for classes with conditions.
    changed_at: Vec<u64>,
    /// The values that the last comparison of their property refused. Each of them was reported once.
    refused: HashSet<Refusal>,
}

const _: () = assert!(size_of::<Object>() == 64, "an object takes one cache line");

impl Object {
    pub(crate) fn new() -> Self {
        Self {
            role: Role::default(),
            physics: false,
            tear_off: TearOff::No,
            history: History::default(),
            laggards: AtomicU32::new(0),
            holders: 0,
            rare: None,
        }
    }

    /// Records that one more connection has not sent all changelists in the history of this object.
    pub(crate) fn add_laggard(&self) {
        self.laggards.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a connection has sent all changelists in the history of this object. Returns whether no
    /// other connection needs them.
    pub(crate) fn remove_laggard(&self) -> bool {
        self.laggards.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Returns whether any connection has not sent all changelists in the history of this object.
    #[inline]
    pub(crate) fn has_laggards(&self) -> bool {
        self.laggards.load(Ordering::Relaxed) > 0
    }

    /// Returns whether the object has no rare state and was not torn off, so that exactly the ordinary
    /// properties of its class are compared.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.rare.is_none() && !self.is_torn_off()
    }

    #[inline]
    pub(crate) fn is_torn_off(&self) -> bool {
        self.tear_off != TearOff::No
    }

    /// Returns the connection that owns the object, directly or through other objects.
    pub(crate) fn owner(&self) -> Option<ConnectionId> {
        self.rare.as_ref()?.owner
    }

    pub(crate) fn set_owner(&mut self, owner: Option<ConnectionId>) {
        if owner.is_some() || self.rare.is_some() {
            self.rare().owner = owner;
        }
    }

    /// Returns the number of the archetype with whose values the object began.
    pub(crate) fn archetype(&self) -> u32 {
        self.rare.as_ref().map_or(0, |own| own.archetype)
    }

    /// Sets the archetype of a new object.
    pub(crate) fn set_archetype(&mut self, archetype: u32) {
        if archetype > 0 {
            self.rare().archetype = archetype;
        }
    }

    fn rare(&mut self) -> &mut RareState {
        self.rare.get_or_insert_default()
    }

    /// Returns the rare state, if conditions of this object were switched off or set at run time.
    #[inline]
    fn own_conditions(&self) -> Option<&RareState> {
        self.rare.as_deref().filter(|own| !own.custom_off.is_empty() || !own.dynamic.is_empty())
    }

    /// Returns whether a property with a custom condition is switched on for all connections. `handles` are
    /// the handles of the property.
    pub(crate) fn is_custom_on(&self, handles: &HandleSet) -> bool {
        self.rare.as_ref().is_none_or(|own| !own.custom_off.intersects(handles))
    }

    /// Switches a property with a custom condition on or off for all connections. `handles` are the handles
    /// of the property.
    pub(crate) fn switch_custom(&mut self, handles: &HandleSet, active: bool) {
        let off = &mut self.rare().custom_off;
        if active { off.difference(handles) } else { off.union(handles) }
    }

    /// Returns the current condition of a property that was declared with the condition `Dynamic`.
    pub(crate) fn condition(&self, property: PropertyIndex) -> Condition {
        let mut set = self.rare.iter().flat_map(|own| &own.dynamic);
        set.find(|(known, _)| *known == property).map_or(Condition::Dynamic, |(_, condition)| *condition)
    }

    /// Sets the condition of a property that was declared with the condition `Dynamic`.
    pub(crate) fn set_condition(&mut self, property: PropertyIndex, condition: Condition) {
        let dynamic = &mut self.rare().dynamic;
        match dynamic.iter_mut().find(|(known, _)| *known == property) {
            Some((_, known)) => *known = condition,
            None => dynamic.push((property, condition)),
        }
    }

    /// Starts to record in which frame each property changes. The argument `properties` is the number of
    /// properties.
    pub(crate) fn remember_changes(&mut self, properties: usize) {
        self.rare().changed_at = vec![0; properties];
    }

    /// Records that the properties with the handles `handles` changed in the frame `frame`, if the object
    /// records changes.
    #[inline]
    pub(crate) fn note_changes(&mut self, handles: &HandleSet, conditions: &ConditionMasks, frame: u64) {
        let Some(rare) = self.rare.as_mut().filter(|own| !own.changed_at.is_empty()) else {
            return;
        };
        for property in handles.iter().filter_map(|handle| conditions.property_of(handle)) {
            rare.changed_at[property.index()] = frame;
        }
    }

    /// Returns the frame in which a property last changed, or zero if it never changed. Returns `None` if the
    /// object does not record changes.
    pub(crate) fn changed_at(&self, property: PropertyIndex) -> Option<u64> {
        self.rare.as_ref()?.changed_at.get(property.index()).copied()
    }

    /// Stores `found`, the refused values of a comparison. Then removes from `found` the values that the
    /// previous comparison has also refused, so that the same value is not reported in each tick. If
    /// `compared` is `Some`, only these properties were compared. If it is `None`, all were compared. Returns
    /// whether the object has refused values now, or `None` if that has not changed.
    #[inline]
    pub(crate) fn note_refusals(
        &mut self,
        compared: Option<&HandleSet>,
        found: &mut Vec<Refusal>,
    ) -> Option<bool> {
        let had = self.rare.as_ref().is_some_and(|own| !own.refused.is_empty());
        if !had && found.is_empty() {
            return None;
        }
        self.replace_refusals(compared, found);
        let has = !self.rare().refused.is_empty();
        (has != had).then_some(has)
    }

    /// Returns whether the last comparison has refused a value of the properties with these handles.
    pub(crate) fn refuses_any_of(&self, handles: &HandleSet) -> bool {
        let mut refused = self.rare.iter().flat_map(|rare| &rare.refused);
        refused.any(|refusal| handles.contains(refusal.handle()))
    }

    #[cold]
    fn replace_refusals(&mut self, compared: Option<&HandleSet>, found: &mut Vec<Refusal>) {
        let mut known = std::mem::take(&mut self.rare().refused);
        let mut refused: HashSet<Refusal> = found.iter().cloned().collect();
        found.retain(|refusal| !known.contains(refusal));
        if let Some(compared) = compared {
            // A property can be refused because its value is too large, even if it is not in `compared`.
            let tried: HashSet<u32> = refused.iter().map(Refusal::handle).collect();
            known.retain(|old| !compared.contains(old.handle()) && !tried.contains(&old.handle()));
            refused.extend(known);
        }
        self.rare().refused = refused;
    }

    #[inline]
    pub(crate) fn preload(&self) {
        preload(self);
    }

    /// Returns the view flags of a connection for this object (S36), without the flag `INITIAL`.
    pub(crate) fn flags(&self, is_owner: bool, is_replay: bool) -> ViewFlags {
        ViewFlags::default()
            .with_if(ViewFlags::OWNER, is_owner)
            .with_if(ViewFlags::SIMULATED, self.role.is_simulated(is_owner))
            .with_if(ViewFlags::PHYSICS, self.physics)
            .with_if(ViewFlags::REPLAY, is_replay)
    }

    /// Returns the role of this object on a client, and whether the client owns it (S204). `is_owner` says
    /// whether the client owns the object.
    pub(crate) fn proxy(&self, is_owner: bool) -> Proxy {
        Proxy::new(self.role, is_owner)
    }

    /// Returns the flags of the default view: the flags of a connection that does not own the object, does
    /// not record a replay, and is near the object. If such a connection is far from the object, it also has
    /// the flag `FAR`.
    pub(crate) fn common_flags(&self) -> ViewFlags {
        self.flags(false, false)
    }

    /// Returns the handles of this object that a connection with the view flags `flags` may see. The argument
    /// `switched` contains the properties with custom conditions that this connection has switched to another
    /// state than the one in their declaration. It is `None` if the connection has switched none.
    pub(crate) fn mask<'c>(
        &self,
        conditions: &'c ConditionMasks,
        flags: ViewFlags,
        switched: Option<&HandleSet>,
    ) -> Cow<'c, HandleSet> {
        let own = self.own_conditions();
        if own.is_none() && switched.is_none() && conditions.starts_off().is_empty() {
            return Cow::Borrowed(conditions.active(flags));
        }
        let mut mask = conditions.active(flags).clone();
        for (property, condition) in own.into_iter().flat_map(|own| &own.dynamic) {
            let handles = conditions.handles_of(*property);
            if condition.allows(flags) { mask.union(handles) } else { mask.difference(handles) }
        }
        match switched {
            None => mask.difference(conditions.starts_off()),
            Some(switched) => {
                let mut off = conditions.starts_off().clone();
                off.symmetric_difference(switched);
                mask.difference(&off);
            }
        }
        if let Some(own) = own {
            mask.difference(&own.custom_off);
        }
        Cow::Owned(mask)
    }

    /// Returns the handles in the shared opening of this object, which is the spawn data for connections with
    /// the default view. These are the handles of properties that have ever changed and that these
    /// connections may see. `is_far` says whether these connections are far from the object.
    pub(crate) fn shared_opening(&self, conditions: &ConditionMasks, is_far: bool) -> Cow<'_, HandleSet> {
        if !conditions.is_conditional() {
            return Cow::Borrowed(self.history.ever());
        }
        let flags = self.common_flags().with(ViewFlags::INITIAL).with_if(ViewFlags::FAR, is_far);
        let mut handles = self.mask(conditions, flags, None).into_owned();
        handles.intersect(self.history.ever());
        Cow::Owned(handles)
    }

    /// Returns the handles that must be compared now (S39): the ordinary properties and the `push` properties
    /// in `marked`. If `opening` is set, because the object is about to be sent to a client for the first
    /// time, the result also contains `InitialOnly` properties and all `push` properties. Properties that are
    /// switched off for all connections are never compared.
    #[inline]
    pub(crate) fn scope<'c>(
        &self,
        conditions: &'c ConditionMasks,
        marked: &HandleSet,
        opening: bool,
    ) -> Cow<'c, HandleSet> {
        let own = self.own_conditions();
        if own.is_none() && marked.is_empty() && !opening {
            return Cow::Borrowed(conditions.ordinary());
        }
        let mut scope = conditions.ordinary().clone();
        scope.union(marked);
        if opening {
            scope.union(conditions.initial_only());
            scope.union(conditions.push());
        }
        if let Some(own) = own {
            scope.difference(&own.custom_off);
            for (property, _) in own.dynamic.iter().filter(|(_, condition)| *condition == Condition::Never) {
                scope.difference(conditions.handles_of(*property));
            }
        }
        Cow::Owned(scope)
    }
}
