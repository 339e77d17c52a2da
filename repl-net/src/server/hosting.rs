//! How the server finds its host, and informs it about the changes of a tick.
//!
//! *Invariant:* on a server without a host, each method here only checks that there is none.

use repl_core::ObjectRef;
use repl_link::ConnectionId;

use super::Server;
use super::host::Host;

impl Server {
    #[inline]
    pub(crate) fn is_host(&self, connection: ConnectionId) -> bool {
        self.host.as_ref().is_some_and(|host| host.id == connection)
    }

    /// Returns whether there is a host that owns the object.
    pub(crate) fn is_owned_by_host<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.host.as_ref().is_some_and(|host| self.object_info(object).owner() == Some(host.id))
    }

    /// Informs the host about the changes of this tick, if it asked for events or notifies.
    pub(super) fn inform_host(&mut self) {
        let tick = self.ticks();
        let Some(host) = &mut self.host else { return };
        if let Some(news) = &mut host.news {
            news.report(&self.world, tick, host.id);
        }
        if let Some(notifies) = &mut host.notifies {
            notifies.call(&mut self.world);
        }
    }

    pub(super) fn as_host(&mut self, connection: ConnectionId) -> Option<&mut Host> {
        self.host.as_deref_mut().filter(|host| host.id == connection)
    }
}
