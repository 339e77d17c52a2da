//! The objects of the runs with calls, and the calls that ran on them.
//!
//! *Invariant:* each call has its own number, so the test finds lost, repeated and misplaced calls.

use std::cell::RefCell;

use repl::prelude::*;

thread_local! {
    /// The calls that functions of objects have recorded on this thread.
    static NOTED: RefCell<Vec<Ran>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Order,
    Wave,
    Hit,
    Follow,
    Blink,
    Announce,
    Explode,
}

impl Kind {
    pub(crate) const OF_CLIENTS: [Self; 2] = [Self::Order, Self::Wave];
    pub(crate) const OF_THE_SERVER: [Self; 5] =
        [Self::Hit, Self::Follow, Self::Blink, Self::Announce, Self::Explode];

    pub(crate) const fn is_reliable(self) -> bool {
        !matches!(self, Self::Wave | Self::Blink | Self::Explode)
    }

    pub(crate) const fn is_multicast(self) -> bool {
        matches!(self, Self::Announce | Self::Explode)
    }

    /// Whether the call refers to another object.
    pub(crate) const fn refers(self) -> bool {
        matches!(self, Self::Order | Self::Hit | Self::Follow | Self::Announce)
    }
}

/// A call that ran or was polled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    /// The number of the object.
    pub(crate) uid: u32,
    pub(crate) kind: Kind,
    pub(crate) number: u32,
    pub(crate) caller: Option<ConnectionId>,
    /// The object that the call refers to.
    pub(crate) about: ObjectRef<Unit>,
}

fn note(uid: u32, kind: Kind, number: u32, about: ObjectRef<Unit>) {
    NOTED.with_borrow_mut(|noted| noted.push(Ran { uid, kind, number, caller: None, about }));
}

/// Returns the calls that ran on this thread since the last call of this function.
pub(crate) fn take_noted() -> Vec<Ran> {
    NOTED.take()
}

/// An object with calls of all kinds.
#[derive(Replicated, Default)]
pub(crate) struct Unit {
    /// A number that differs for each object of a run, also if two objects have the same slot or are on
    /// different servers.
    #[replicated]
    pub(crate) uid: u32,
    #[replicated]
    pub(crate) health: u16,
    /// Makes some objects larger than a packet.
    #[replicated]
    pub(crate) ballast: Vec<u8>,
}

#[rpcs]
impl Unit {
    #[rpc(server, reliable, per_second = 1_000)]
    fn order(call: &mut ServerCall<'_, Self>, number: u32, about: ObjectRef<Self>) {
        let (uid, caller) = (call.uid, call.caller());
        let ran = Ran { uid, kind: Kind::Order, number, caller, about };
        NOTED.with_borrow_mut(|noted| noted.push(ran));
    }

    #[rpc(server, unreliable, per_second = 1_000)]
    fn wave(call: &mut ServerCall<'_, Self>, number: u32) {
        let (uid, caller, about) = (call.uid, call.caller(), ObjectRef::NULL);
        let ran = Ran { uid, kind: Kind::Wave, number, caller, about };
        NOTED.with_borrow_mut(|noted| noted.push(ran));
    }

    #[rpc(client, reliable)]
    fn hit(&self, number: u32, about: ObjectRef<Self>) {
        note(self.uid, Kind::Hit, number, about);
    }

    #[rpc(client, reliable, waits)]
    fn follow(&self, number: u32, about: ObjectRef<Self>) {
        note(self.uid, Kind::Follow, number, about);
    }

    #[rpc(client, unreliable)]
    fn blink(&self, number: u32) {
        note(self.uid, Kind::Blink, number, ObjectRef::NULL);
    }

    #[rpc(multicast, reliable)]
    fn announce(&self, number: u32, about: ObjectRef<Self>) {
        note(self.uid, Kind::Announce, number, about);
    }

    #[rpc(multicast, unreliable)]
    fn explode(&self, number: u32) {
        note(self.uid, Kind::Explode, number, ObjectRef::NULL);
    }
}

/// Returns a polled call as if it had run on the object `uid`.
pub(crate) fn polled(uid: u32, caller: Option<ConnectionId>, call: &UnitCall) -> Ran {
    let (kind, number, about) = match *call {
        UnitCall::Order { number, about } => (Kind::Order, number, about),
        UnitCall::Wave { number } => (Kind::Wave, number, ObjectRef::NULL),
        UnitCall::Hit { number, about } => (Kind::Hit, number, about),
        UnitCall::Follow { number, about } => (Kind::Follow, number, about),
        UnitCall::Blink { number } => (Kind::Blink, number, ObjectRef::NULL),
        UnitCall::Announce { number, about } => (Kind::Announce, number, about),
        UnitCall::Explode { number } => (Kind::Explode, number, ObjectRef::NULL),
    };
    Ran { uid, kind, number, caller, about }
}

/// Makes a call of the server. Returns whether it was queued.
pub(crate) fn call_of_server(
    server: &mut Server,
    unit: ObjectRef<Unit>,
    kind: Kind,
    number: u32,
    about: ObjectRef<Unit>,
) -> bool {
    let mut caller = server.call(unit);
    let result = match kind {
        Kind::Hit => caller.hit(number, about),
        Kind::Follow => caller.follow(number, about),
        Kind::Blink => caller.blink(number),
        Kind::Announce => caller.announce(number, about),
        Kind::Explode => caller.explode(number),
        Kind::Order | Kind::Wave => unreachable!("calls of clients"),
    };
    result.is_ok()
}

/// Makes a call of a client. Returns whether it was queued.
pub(crate) fn call_of_client(
    client: &mut Client,
    unit: ObjectRef<Unit>,
    kind: Kind,
    number: u32,
    about: ObjectRef<Unit>,
) -> bool {
    let mut caller = client.call(unit);
    let result = match kind {
        Kind::Order => caller.order(number, about),
        Kind::Wave => caller.wave(number),
        _ => unreachable!("calls of the server"),
    };
    result.is_ok()
}
