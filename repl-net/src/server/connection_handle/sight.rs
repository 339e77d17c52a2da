//! From where a connection sees objects: its viewpoints and its groups.
//!
//! *Invariant:* a connection that has ended is never added to the viewers of a cell, because nothing would
//! remove it.

use repl_core::ObjectRef;
use repl_link::ConnectionId;
use repl_link::parts::ServerSessions;

use super::ConnectionHandle;
use crate::server::cells::Group;
use crate::server::cells::area::Position;
use crate::server::connection::Connection;
use crate::server::peer::Peer;
use crate::server::relevancy::assert_has_area;

impl ConnectionHandle<'_> {
    /// Sets the points from which the connection sees objects with [positions](crate::ClassHandle::locate),
    /// for example the positions of its player and of a camera. At first a connection has no viewpoints and
    /// sees none of these objects. Call this in each tick. It costs little until a point has moved by a
    /// quarter of a cell, and then O(cells in sight).
    pub fn set_viewpoints(&mut self, viewpoints: &[Position]) -> &mut Self {
        let (server, connection) = (&mut *self.server, self.connection);
        let Some(peer) = server.sessions.peers.resting_mut(connection) else { return self };
        if peer.handshake.is_ended() {
            return self;
        }
        peer.connection.copies.followed = None;
        if peer.connection.copies.set_viewpoints(&mut server.world, viewpoints) {
            server.sessions.peers.wake(connection);
        }
        self
    }

    /// Sets the directions in which the connection looks from each of its
    /// [viewpoints](Self::set_viewpoints), for [functions](crate::ClassHandle::set_priority_by) that compute
    /// priorities or decide [who sees an object](crate::ClassHandle::set_relevancy_by).
    pub fn set_view_directions(&mut self, directions: &[Position]) -> &mut Self {
        if let Some(peer) = self.server.sessions.peers.get_mut(self.connection) {
            peer.connection.set_directions(&mut self.server.world, directions);
        }
        self
    }

    /// Lets the connection see from the position of an object, for example of its player. The connection then
    /// has one [viewpoint](Self::set_viewpoints), and each tick begins by moving it to the position of the
    /// object. This costs one call of the function that was passed to [`locate`](crate::ClassHandle::locate).
    /// To stop following, set viewpoints. If you despawn the object, the last viewpoint stays. Does nothing
    /// if the object does not exist.
    ///
    /// # Panics
    /// Panics if the class of the object has no [area](crate::ClassHandle::locate), or has a [placed
    /// area](crate::ClassHandle::set_placed_area). Your program knows the position of a placed object, so
    /// pass it to [`set_viewpoints`](Self::set_viewpoints).
    #[track_caller]
    pub fn follow<T: ?Sized>(&mut self, object: ObjectRef<T>) -> &mut Self {
        let world = &mut self.server.world;
        let Some(slot) = world.store.slot_of(object) else { return self };
        let class = world.store.occupant(slot).class;
        assert_has_area(world, class);
        let column = world.store.column(class);
        assert!(
            column.has_positions(),
            "`follow` finds no position in a `{name}`, because `place` sets it: instead of `follow`, call `set_viewpoints` of the \
             connection with the same position whenever you call `place`",
            name = column.program().layout().name(),
        );
        if let Some(peer) = open_peer(&mut self.server.sessions, self.connection) {
            peer.connection.copies.followed = Some(object.erase());
            peer.connection.copies.update_followed(world);
        }
        self
    }

    /// Puts the connection into a [group](Group). It then sees the [objects of the
    /// group](crate::Relevancy::Group), is in the [audiences](crate::Audience::Group) of the group, and
    /// receives what [`send_to_group`](crate::Server::send_to_group) sends. A connection can be in any number
    /// of groups. Does nothing if it is in the group already. Costs O(cells in sight + objects of the group +
    /// objects with an audience).
    pub fn join_group(&mut self, group: Group) -> &mut Self {
        if let Some(peer) = open_peer(&mut self.server.sessions, self.connection) {
            peer.connection.copies.set_member(&mut self.server.world, group, true);
        } else if let Some(host) = self.server.as_host(self.connection) {
            host.groups.insert(group);
        }
        self
    }

    /// Takes the connection out of a [group](Group). The objects that it saw only because of the group are
    /// removed from its client, and from now on nothing more of them is sent. Costs the same as
    /// [`join_group`](Self::join_group).
    pub fn leave_group(&mut self, group: Group) -> &mut Self {
        if let Some(peer) = open_peer(&mut self.server.sessions, self.connection) {
            peer.connection.copies.set_member(&mut self.server.world, group, false);
        } else if let Some(host) = self.server.as_host(self.connection) {
            host.groups.remove(&group);
        }
        self
    }
}

fn open_peer(sessions: &mut ServerSessions<Connection>, id: ConnectionId) -> Option<&mut Peer> {
    sessions.peers.get_mut(id).filter(|peer| !peer.handshake.is_ended())
}
