//! Which connections see an object.
//!
//! *Invariant:* `View::sees` alone decides whether a connection sees an object. Only for objects that are
//! being torn off, `ObjectStates::sees` decides. Each method here changes an input of `View::sees`.
//! Afterwards, each connection that the change can affect decides again.

use repl_link::ConnectionId;

use super::ObjectHandle;
use crate::server::cells::Relevancy;
use crate::server::out_of_sight::OutOfSight;
use crate::server::relevancy::{assert_has_area, assert_has_function};

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Sets which connections see the object. Does nothing if the object is [torn off](Self::tear_off).
    ///
    /// If a connection no longer sees the object, nothing more of the object is sent to it, and its client
    /// removes the object with [`CloseReason::Relevancy`](crate::CloseReason::Relevancy), or
    /// [keeps](Self::set_out_of_sight) it. Costs O(connections
    /// × attached objects).
    ///
    /// # Panics
    /// Panics if the object or a part of its relevancy is [`Located`](Relevancy::Located) and its class has
    /// no [area](crate::ClassHandle::locate), if [`AttachedTo`](Relevancy::AttachedTo) is a part of a
    /// combination, if [`Computed`](Relevancy::Computed) is a part of it and the class has no
    /// [function](crate::ClassHandle::set_relevancy_by), if the object is attached to itself, directly or
    /// through other objects, or if it is a [subobject](Self::spawn_subobject).
    #[track_caller]
    pub fn set_relevancy(&mut self, relevancy: impl Into<Relevancy>) -> &mut Self {
        let relevancy = relevancy.into();
        let Some(slot) = self.slot() else { return self };
        let world = &mut self.server.world;
        if world.store.objects[slot as usize].is_torn_off() {
            return self;
        }
        assert!(
            world.subobjects.parent(slot).is_none(),
            "a subobject is seen with its parent: use `set_audience` to show it to fewer connections"
        );
        let class = world.store.occupant(slot).class;
        if relevancy.has(&|part| *part == Relevancy::Located) {
            assert_has_area(world, class);
        }
        assert_has_function(world, class, &relevancy);
        let relevancy = match relevancy {
            Relevancy::AttachedTo(parent) => match world.store.slot_of(parent) {
                Some(parent) => {
                    let is_inside = world.cells.with_attached(slot).contains(&parent);
                    assert!(
                        !is_inside,
                        "an object cannot be attached to itself, nor to what is attached to it"
                    );
                    relevancy
                }
                None => Relevancy::OwnerOnly,
            },
            _ => {
                assert!(
                    !relevancy.has(&is_attached),
                    "`AttachedTo` cannot be a part of a combination: attach the object, and use `set_audience` to show it to \
                     fewer connections"
                );
                relevancy
            }
        };
        let affected = world.cells.set_relevancy(slot, relevancy);
        world.update_function_user(slot);
        self.server.reconsider(&affected);
        self
    }

    /// Restricts which connections see the object: a connection must be in the audience, and must also see
    /// the object by its [relevancy](Self::set_relevancy). For example, only the members of a group that are
    /// near the object see it. The audience also applies to objects that are
    /// [attached](Relevancy::AttachedTo) to this object. Costs O(connections × attached objects), and each
    /// change of a connection's groups costs O(objects with an audience).
    ///
    /// The audience also applies to the owner of the object. If a client and its own object move to another
    /// group, let the client join the new group first, then set the new audience of the object, and let the
    /// client leave the old group last. In another order, the client's copy of the object is removed and
    /// created again.
    ///
    /// The audience is an [`Audience`](crate::Audience), a [`Group`](crate::Group), or a combination of
    /// relevancies, for example `Relevancy::any([RED, BLUE])` for the members of two groups.
    ///
    /// # Panics
    /// Panics if [`Located`](Relevancy::Located) or [`AttachedTo`](Relevancy::AttachedTo) is in the audience,
    /// or if [`Computed`](Relevancy::Computed) is in it and the class has no
    /// [function](crate::ClassHandle::set_relevancy_by).
    #[track_caller]
    pub fn set_audience(&mut self, audience: impl Into<Relevancy>) -> &mut Self {
        let audience = audience.into();
        assert!(
            !audience.has(&|part| is_attached(part) || *part == Relevancy::Located),
            "positions and attachments cannot be in an audience: pass `Relevancy::all([Relevancy::Located, …])` to `set_relevancy`"
        );
        let Some(slot) = self.slot() else { return self };
        let world = &mut self.server.world;
        assert_has_function(world, world.store.occupant(slot).class, &audience);
        match audience {
            Relevancy::Always => _ = world.audiences.remove(&slot),
            _ => _ = world.audiences.insert(slot, audience),
        }
        world.update_function_user(slot);
        let affected = world.cells.with_attached(slot);
        self.server.reconsider(&affected);
        self
    }

    /// Lets the [function](crate::ClassHandle::set_relevancy_by) of the class be called for the object and
    /// each connection in the next tick. Call this if something has changed that the function reads
    /// elsewhere, for example by [`Viewer::object`](crate::Viewer::object). Does nothing if the function does
    /// not decide who sees the object. Costs O(1), and the calls.
    pub fn decide_again(&mut self) -> &mut Self {
        if let Some(slot) = self.slot() {
            let world = &mut self.server.world;
            world.functions.mark(world.store.occupant(slot).class, slot);
        }
        self
    }

    /// Sets whether clients keep the object when they may no longer see it. The setting also applies to its
    /// [subobjects](Self::spawn_subobject), whose own settings have no effect. It applies to clients that
    /// lose sight of the object from now on.
    pub fn set_out_of_sight(&mut self, setting: OutOfSight) -> &mut Self {
        if let Some(slot) = self.slot() {
            self.server.world.out_of_sight.set_object(slot, setting);
        }
        self
    }

    /// Hides the object from a connection if `visible` is false. If `visible` is true, the
    /// [relevancy](Self::set_relevancy) of the object decides again. At first no object is hidden. If
    /// `visible` is false, the object and the objects that are [attached](Relevancy::AttachedTo) to it are
    /// removed from the connection's client.
    pub fn set_visible(&mut self, connection: ConnectionId, visible: bool) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        if let Some(peer) = self.server.sessions.peers.get_mut(connection) {
            peer.connection.copies.set_visible(&mut self.server.world, slot, visible);
        }
        self
    }
}

fn is_attached(part: &Relevancy) -> bool {
    matches!(part, Relevancy::AttachedTo(_))
}
