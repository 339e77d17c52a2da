//! The methods of the server that set which connections see which objects.
//!
//! *Invariant:* `View::sees` is the only rule, except that `ObjectStates::sees` decides for objects that are
//! being torn off. Each method changes something that the rule reads. Then the connections that may now see
//! other objects apply the rule again.

use repl_core::{Coordinates, Located, ObjectRef, Replicated};

use super::Server;
use super::cells::area::{Area, Position};
use super::cells::{Audience, Group, Relevancy};
use super::peer::Peer;
use super::peers::Peers;
use super::rows::OwnRows;
use super::shadows::Locate;
use super::world::World;
use repl_link::session::connection_id::ConnectionId;

impl Server {
    /// Says how far the objects of a class are seen, so that connections see only those near their
    /// [viewpoints](Self::set_viewpoints). The position of an object is its field with
    /// `#[replicated(location)]`. To compute positions in another way, call [`locate`](Self::locate) instead.
    /// If the field has only two coordinates, the area is [flat](Area::flat). If the class is new, registers
    /// it as [`register`](Self::register) does. For an external class, call
    /// [`register_external`](Self::register_external) first.
    ///
    /// Everything that [`locate`](Self::locate) says about positions and about moving objects holds here too.
    ///
    /// # Panics
    /// Panics in the same cases as [`locate`](Self::locate).
    #[track_caller]
    pub fn set_area<T: Located>(&mut self, area: Area) -> &mut Self {
        self.place::<T>(area.flat_if(T::IS_FLAT), Box::new(T::location), "set_area")
    }

    /// Says that the objects of a class have positions, so that connections see only those near their
    /// [viewpoints](Self::set_viewpoints). `position` returns the position of an object. It may read only
    /// properties, because it is called with a copy of the object in which all other fields have their
    /// initial values. If it returns two [coordinates](Coordinates), the area is [flat](Area::flat). If the
    /// class is new, registers it as [`register`](Self::register) does. For an external class, call
    /// [`register_external`](Self::register_external) first. If the position is a field of the class, write
    /// `#[replicated(location)]` on it, and call [`set_area`](Self::set_area).
    ///
    /// A property whose value was [refused](crate::ServerEvent::ValueRefused) has its last value in this
    /// copy. The elements of an array are refused one by one, so a `[f32; 3]` with a NaN becomes a mix of old
    /// and new coordinates. A type that derives only `NetSerialize` is refused as a whole.
    ///
    /// An object that moves to another cell is shown or removed at the tick after the one that compares its
    /// position. With an [update rate](Self::set_update_rate) the position is compared at the update times of
    /// the object, and until then the object stays in the sight of the same connections. Viewpoints take
    /// effect at the next tick. Call [`force_update`](Self::force_update) for an object that jumps. A position
    /// that is not compared does not move: a `push` property that is not marked, a property with the condition
    /// `InitialOnly` after the opening, or one that is [switched off](Self::set_custom_active). An
    /// [external](crate::External) object may move nevertheless.
    ///
    /// ```
    /// # mod repl {
    /// #     pub use repl_core::*;
    /// #     pub use repl_net::*;
    /// # }
    /// use repl::{Area, Replicated, Server, ServerConfig};
    ///
    /// # fn register<Creature: Replicated>(position: fn(&Creature) -> [f32; 2]) {
    /// let mut server = Server::new(ServerConfig::default());
    /// server.locate(Area::within(100.0), position);
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics after the first [`connect`](Self::connect), if the class has objects already, if the cells of
    /// the area are too small for its [second radius](Area::keep_within), if one of its
    /// [bands](Area::slower_beyond) begins beyond that radius, or if everything within that radius is
    /// [near](Area::near_within).
    #[track_caller]
    pub fn locate<T: Replicated, C: Coordinates>(
        &mut self,
        area: Area,
        position: impl Fn(&T) -> C + Send + Sync + 'static,
    ) -> &mut Self {
        let position = move |object: &T| position(object).coordinates();
        self.place(area.flat_if(C::IS_FLAT), Box::new(position), "locate")
    }

    /// Sets the area of a class, and the function that returns the positions of its objects. `method` is the
    /// name of the method that the user called.
    #[track_caller]
    fn place<T: Replicated>(&mut self, area: Area, position: Box<dyn Locate<T>>, method: &str) -> &mut Self {
        let name = T::LAYOUT.name();
        assert!(
            !self.is_registration_over(),
            "areas are set before the first connection: call `{method}::<{name}>` before `connect`"
        );
        area.check();
        let class = match self.world.class_of::<T>() {
            Some(class) => class,
            None => self.world.register::<T, OwnRows<T>>(false),
        };
        let Some(shadows) = self.world.shadows_mut::<T>() else { unreachable!("the class is registered") };
        assert!(
            shadows.rows.is_empty(),
            "areas are set before the first object: call `{method}::<{name}>` before `spawn`"
        );
        shadows.locate = Some(position);
        self.world.cells.set_area(class, area);
        self
    }

    /// Sets which connections see an object. Does nothing if the object does not exist, or is [torn
    /// off](Self::tear_off).
    ///
    /// If a connection no longer sees the object, nothing more of the object is sent to it, and its client
    /// removes the object with [`CloseReason::Relevancy`](crate::CloseReason::Relevancy). Costs O(connections
    /// × attached objects).
    ///
    /// # Panics
    /// Panics if the object is [`Located`](Relevancy::Located) and its class has no [area](Self::locate), if
    /// it is attached to itself, directly or through other objects, or if it is a
    /// [subobject](Self::spawn_subobject).
    #[track_caller]
    pub fn set_relevancy<T: ?Sized>(&mut self, object: ObjectRef<T>, relevancy: Relevancy) {
        let Some(slot) = self.world.slot_of(object) else { return };
        if self.world.objects[slot as usize].is_torn_off() {
            return;
        }
        assert!(
            self.world.subobjects.parent(slot).is_none(),
            "a subobject is seen with its parent: use `set_audience` to show it to fewer connections"
        );
        let class = self.world.occupant(slot).class;
        if relevancy == Relevancy::Located {
            let name = self.world.column(class).program().layout().name();
            assert!(
                self.world.cells.has_area(class),
                "`{name}` has no positions: call `set_area::<{name}>` or `locate::<{name}>` before `connect`"
            );
        }
        let relevancy = match relevancy {
            Relevancy::AttachedTo(parent) => match self.world.slot_of(parent) {
                Some(parent) => {
                    let is_inside = self.world.cells.with_attached(slot).contains(&parent);
                    assert!(
                        !is_inside,
                        "an object cannot be attached to itself, nor to what is attached to it"
                    );
                    relevancy
                }
                None => Relevancy::OwnerOnly,
            },
            _ => relevancy,
        };
        let affected = self.world.cells.set_relevancy(slot, relevancy);
        self.reconsider(&affected);
    }

    /// Sets which of the connections that see the object by its [relevancy](Self::set_relevancy) see it in
    /// fact, for example those of a group that are also near the object. The audience holds for what is
    /// [attached](Relevancy::AttachedTo) to the object, too. Does nothing if the object does not exist. Costs
    /// O(connections × attached objects), and each change of a connection's groups costs O(objects with an
    /// audience).
    ///
    /// The audience holds for the owner of the object, too. If a client and its own object go into the room
    /// of another group, let the client join the new group before the object gets the new audience, and leave
    /// the old group last. In another order, the client's copy of the object is removed and created again.
    pub fn set_audience<T: ?Sized>(&mut self, object: ObjectRef<T>, audience: Audience) {
        let Some(slot) = self.world.slot_of(object) else { return };
        match audience {
            Audience::Everyone => _ = self.world.audiences.remove(&slot),
            _ => _ = self.world.audiences.insert(slot, audience),
        }
        let affected = self.world.cells.with_attached(slot);
        self.reconsider(&affected);
    }

    /// Returns which connections see an object, or `None` if the object does not exist.
    #[must_use]
    pub fn relevancy<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Relevancy> {
        Some(self.world.cells.relevancy(self.world.slot_of(object)?))
    }

    /// Sets the points from which a connection sees objects with [positions](Self::locate), for example the
    /// position of its player, and of a camera elsewhere. At first a connection has no viewpoints and sees
    /// none of these objects. Call this in each tick: it costs little until a point has moved by a quarter of
    /// a cell, and then O(cells in sight).
    pub fn set_viewpoints(&mut self, connection: ConnectionId, viewpoints: &[Position]) {
        let Some(peer) = self.connections.resting_mut(connection) else { return };
        if peer.handshake.is_ended() {
            return;
        }
        peer.followed = None;
        if peer.connection.copies.set_viewpoints(&mut self.world, viewpoints) {
            self.connections.wake(connection);
        }
    }

    /// Lets a connection see from the position of an object, for example of its player. Each tick moves its
    /// only [viewpoint](Self::set_viewpoints) to where the object is when the tick begins, which costs a call
    /// of the function that was passed to [`locate`](Self::locate). This ends when you set viewpoints, or
    /// despawn the object: then the last viewpoint stays. Does nothing if the connection or the object does
    /// not exist.
    ///
    /// # Panics
    /// Panics if the class of the object has no [area](Self::locate).
    #[track_caller]
    pub fn follow<T: ?Sized>(&mut self, connection: ConnectionId, object: ObjectRef<T>) {
        let Some(slot) = self.world.slot_of(object) else { return };
        let class = self.world.occupant(slot).class;
        assert!(
            self.world.cells.has_area(class),
            "`{name}` has no positions: call `set_area::<{name}>` or `locate::<{name}>` before `connect`",
            name = self.world.column(class).program().layout().name(),
        );
        if let Some(peer) = open_peer(&mut self.connections, connection) {
            peer.followed = Some(object.erase());
            peer.follow(&mut self.world);
        }
    }

    /// Puts a connection into a [group](Group). It then sees the [objects of the group](Relevancy::Group), is
    /// in the [audiences](crate::Audience::Group) of the group, and receives what
    /// [`send_to_group`](Self::send_to_group) sends. A connection can be in any number of groups. Does nothing
    /// if it is in the group already. Costs O(cells in sight + objects of the group + objects with an
    /// audience).
    pub fn join_group(&mut self, connection: ConnectionId, group: Group) {
        if let Some(peer) = open_peer(&mut self.connections, connection) {
            peer.connection.copies.set_member(&mut self.world, group, true);
        }
    }

    /// Takes a connection out of a [group](Group). The objects that it saw only because of the group are
    /// removed from its client, and from now on nothing more of them is sent. Costs the same as
    /// [`join_group`](Self::join_group).
    pub fn leave_group(&mut self, connection: ConnectionId, group: Group) {
        if let Some(peer) = open_peer(&mut self.connections, connection) {
            peer.connection.copies.set_member(&mut self.world, group, false);
        }
    }

    /// Returns whether a connection is in a [group](Relevancy::Group). Returns `false` if the connection does
    /// not exist.
    #[must_use]
    pub fn is_in_group(&self, connection: ConnectionId, group: Group) -> bool {
        self.connections.get(connection).is_some_and(|peer| peer.connection.copies.is_member(group))
    }

    /// Returns whether a connection sees an object now, according to its relevancy,
    /// [audience](Self::set_audience), [visibility](Self::set_visible) and [initial
    /// dormancy](crate::Dormancy::Initial), and those of the objects to which it is attached. The client may
    /// not have received the object yet. Returns `false` if the connection or the object does not exist.
    #[must_use]
    pub fn is_relevant<T: ?Sized>(&self, connection: ConnectionId, object: ObjectRef<T>) -> bool {
        let (Some(peer), Some(slot)) = (self.connections.get(connection), self.world.slot_of(object)) else {
            return false;
        };
        peer.connection.copies.sees(&self.world, slot)
    }

    /// Moves each object to the cell of its new position, and the viewpoints to the objects that they follow.
    pub(super) fn update_cells(&mut self) {
        let mut affected = std::mem::take(&mut self.crossings);
        self.world.cells.take_moved(&mut affected);
        for (viewer, slot) in affected.drain(..) {
            if let Some(peer) = self.connections.get_mut(viewer) {
                peer.connection.copies.reconsider(&mut self.world, slot);
            }
        }
        self.crossings = affected;
        let awake = self.connections.awake_mut(self.now);
        for peer in awake.filter(|peer| !peer.handshake.is_ended()) {
            peer.follow(&mut self.world);
        }
    }
}

impl Peer {
    /// Moves the viewpoint to the object that it follows.
    fn follow(&mut self, world: &mut World) {
        let Some(object) = self.followed else { return };
        let position = world.slot_of(object).and_then(|slot| {
            let occupant = world.occupant(slot);
            world.column(occupant.class).position(occupant.row)
        });
        match position {
            Some(position) => _ = self.connection.copies.set_viewpoints(world, &[position]),
            None => self.followed = None,
        }
    }
}

/// Returns a connection that has not ended. A connection that has ended must not get cells in sight, because
/// nothing would remove it from the viewers of these cells.
fn open_peer(connections: &mut Peers, id: ConnectionId) -> Option<&mut Peer> {
    connections.get_mut(id).filter(|peer| !peer.handshake.is_ended())
}
