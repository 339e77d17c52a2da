//! How much work a tick does, if the user limits it (Unreal's `IsCPUSaturated`). The library reads no clock,
//! so a function of the user decides.
//!
//! *Invariant:* a tick does at least one group of each kind of work, whatever the function returns. So all
//! work is done after a bounded number of ticks.

/// At most this many objects are compared before the function is asked again.
pub(crate) const GROUP: usize = 64;

/// The work that a tick is about to do. [`Server::tick_while`](crate::Server::tick_while) passes it to the
/// function that decides whether the tick goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// The tick is about to compare up to 64 more objects. The number is how many it has compared so far.
    Objects(usize),
    /// The tick is about to serve one more connection. The number is how many it has served so far.
    Connections(usize),
}

/// The limit for the work of one tick.
pub(crate) struct WorkLimit<'a> {
    goes_on: &'a mut dyn FnMut(Work) -> bool,
    compared: usize,
    served: usize,
    /// Whether a group of objects was compared that could have waited.
    has_compared: bool,
}

impl<'a> WorkLimit<'a> {
    pub(crate) fn new(goes_on: &'a mut dyn FnMut(Work) -> bool) -> Self {
        Self { goes_on, compared: 0, served: 0, has_compared: false }
    }

    /// Returns whether the tick may compare one more group of objects.
    pub(crate) fn allows_objects(&mut self) -> bool {
        !std::mem::replace(&mut self.has_compared, true) || (self.goes_on)(Work::Objects(self.compared))
    }

    /// Counts objects that were compared.
    pub(crate) fn note_compared(&mut self, objects: usize) {
        self.compared += objects;
    }

    /// Returns whether the tick may serve one more connection. If so, counts it.
    pub(crate) fn allows_connection(&mut self) -> bool {
        let is_allowed = self.served == 0 || (self.goes_on)(Work::Connections(self.served));
        self.served += usize::from(is_allowed);
        is_allowed
    }
}
