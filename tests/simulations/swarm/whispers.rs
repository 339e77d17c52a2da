//! Calls of the server with secrets as parameters, while owners, visibility and relevancy change.
//!
//! *Invariant:* each call has its own number, which its secret contains. The model uses only the test's own
//! calls to decide which connection may get which call.

use std::collections::{BTreeMap, BTreeSet};

use repl::prelude::*;
use repl::sim::Rng;
use repl::{CallError, Guid, ReceivedCall};

use crate::canary::Canary;
use crate::classes::{Actor, Bird, Dot};
use crate::kinds::{ACTOR, BIRD, DOT};
use crate::world::{View, World};

/// A kind of call, which says who gets the call. The number of the kind is the property in the canary of the
/// call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whisper {
    ToOwner,
    HintToOwner,
    ToAll,
    HintToAll,
}

/// The properties of the canaries of calls. Objects have fewer properties.
const FIRST_PROPERTY: u8 = 0x80;

impl Whisper {
    const ALL: [Self; 4] = [Self::ToOwner, Self::HintToOwner, Self::ToAll, Self::HintToAll];

    pub(crate) fn of(canary: Canary) -> Option<Self> {
        Self::ALL.get(usize::from(canary.property.checked_sub(FIRST_PROPERTY)?)).copied()
    }

    fn is_for_owner(self) -> bool {
        matches!(self, Self::ToOwner | Self::HintToOwner)
    }

    fn is_reliable(self) -> bool {
        matches!(self, Self::ToOwner | Self::ToAll)
    }
}

/// The content of a call: its secret, and some bytes.
type Content = (u128, Vec<u8>);

/// A class with such calls.
trait Whisperer: Rpcs {
    fn call(server: &mut Server, guid: Guid, whisper: Whisper, content: Content) -> Result<(), CallError>;

    fn take_apart(call: Self::Call) -> (Whisper, Content);
}

/// Generates the calls of a class. The calls have no bodies: both sides poll them.
macro_rules! whisperer {
    ($class:ident, $call:ident) => {
        #[rpcs]
        impl $class {
            #[rpc(client, reliable)]
            fn whisper(secret: u128, #[replicated(max_len = 65_536)] ballast: Vec<u8>);
            #[rpc(client, unreliable)]
            fn hint(secret: u128, #[replicated(max_len = 65_536)] ballast: Vec<u8>);
            #[rpc(multicast, reliable)]
            fn shout(secret: u128, #[replicated(max_len = 65_536)] ballast: Vec<u8>);
            #[rpc(multicast, unreliable)]
            fn murmur(secret: u128, #[replicated(max_len = 65_536)] ballast: Vec<u8>);
        }

        impl Whisperer for $class {
            fn call(
                server: &mut Server,
                guid: Guid,
                whisper: Whisper,
                (secret, ballast): Content,
            ) -> Result<(), CallError> {
                let mut caller = server.call(ObjectRef::<$class>::new(guid));
                match whisper {
                    Whisper::ToOwner => caller.whisper(secret, ballast),
                    Whisper::HintToOwner => caller.hint(secret, ballast),
                    Whisper::ToAll => caller.shout(secret, ballast),
                    Whisper::HintToAll => caller.murmur(secret, ballast),
                }
            }

            fn take_apart(call: $call) -> (Whisper, Content) {
                match call {
                    $call::Whisper { secret, ballast } => (Whisper::ToOwner, (secret, ballast)),
                    $call::Hint { secret, ballast } => (Whisper::HintToOwner, (secret, ballast)),
                    $call::Shout { secret, ballast } => (Whisper::ToAll, (secret, ballast)),
                    $call::Murmur { secret, ballast } => (Whisper::HintToAll, (secret, ballast)),
                }
            }
        }
    };
}

whisperer!(Actor, ActorCall);
whisperer!(Bird, BirdCall);
whisperer!(Dot, DotCall);

/// A function that makes a call with this content on an object.
type Caller = fn(&mut Server, Guid, Whisper, Content) -> Result<(), CallError>;

/// Returns the function that calls an object of a class, if the class has calls.
fn caller_of(kind: usize) -> Option<Caller> {
    match kind {
        ACTOR => Some(Actor::call),
        BIRD => Some(Bird::call),
        DOT => Some(Dot::call),
        _ => None,
    }
}

/// How many calls with secrets are made in a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whispers {
    /// The chance of a call in a tick.
    chance: f64,
    /// Whether some calls are larger than a packet.
    pub(crate) is_large: bool,
}

impl Whispers {
    /// Returns the calls of a seed's run. One run of two has no calls.
    pub(crate) fn new(seed: u64) -> Option<Self> {
        let mut rng = Rng::new(seed).fork(23);
        let chance = *rng.pick(&[0.02, 0.1, 0.3]).expect("chances");
        let is_large = rng.chance(0.4);
        rng.chance(0.5).then_some(Self { chance, is_large })
    }

    pub(crate) fn register_on_client(client: &mut Client, has_birds: bool) {
        client.register_calls::<Actor>().register_calls::<Dot>();
        if has_birds {
            client.register_calls::<Bird>();
        }
    }

    pub(crate) fn register_on_server(server: &mut Server, has_birds: bool) {
        server.register_calls::<Dot>().register_calls::<Actor>();
        if has_birds {
            server.register_calls::<Bird>();
        }
    }
}

/// Returns the bytes of a call with a secret: none, or copies of the secret for more than a packet.
fn ballast(secret: u128, number: u32, is_large: bool) -> Vec<u8> {
    let copies = match number.wrapping_mul(0x9e37_79b9) >> 24 {
        0..2 if is_large => 1_250,
        2..12 if is_large => 190,
        _ => 0,
    };
    secret.to_le_bytes().repeat(copies)
}

/// A call that was made.
#[derive(Clone, Copy, Debug)]
struct Made {
    uid: u32,
    whisper: Whisper,
}

/// All calls that were made, by number.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    made: Vec<Made>,
}

/// What the model knows about the calls for one connection.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    /// The objects that the connection saw when they were despawned or torn off, whichever came first, and
    /// whether it owned them.
    last: BTreeMap<u32, bool>,
    /// The reliable calls that must arrive, with their objects and whether they are for the owner, unless the
    /// connection loses its right to them first.
    due: BTreeMap<u32, Made>,
}

impl Rights {
    /// Records that the client has lost an object, or may lose it before calls on it arrive.
    pub(crate) fn lose(&mut self, uid: u32) {
        self.due.retain(|_, made| made.uid != uid);
    }

    /// Records that the connection does not own an object.
    pub(crate) fn disown(&mut self, uid: u32) {
        self.due.retain(|_, made| made.uid != uid || !made.whisper.is_for_owner());
    }

    /// Records that an object which the connection sees is despawned or torn off.
    pub(crate) fn end(&mut self, uid: u32, was_owner: bool) {
        self.last.entry(uid).or_insert(was_owner);
    }

    /// Returns how many reliable calls are missing, and one of them.
    pub(crate) fn missing(&self) -> Option<String> {
        let (number, made) = self.due.first_key_value()?;
        Some(format!("{} calls are missing, the first is {number}: {made:?}", self.due.len()))
    }
}

impl World {
    /// Calls an object with a new secret.
    pub(crate) fn whisper(&mut self, plan: Whispers) {
        if !self.whispering.chance(plan.chance) {
            return;
        }
        let Some(uid) = self.whispering.pick(&self.alive).copied() else { return };
        let whisper = *self.whispering.pick(&Whisper::ALL).expect("kinds");
        let thing = &self.things[uid as usize];
        let Some(call) = caller_of(thing.kind) else { return };
        let (number, made) = (self.calls.made.len() as u32, Made { uid, whisper });
        let property = FIRST_PROPERTY + whisper as u8;
        let secret = Canary { object: uid, property, version: number }.value();
        let content = (secret, ballast(secret, number, plan.is_large));
        match call(&mut self.server, thing.guid, whisper, content) {
            Ok(()) => self.calls.made.push(made),
            Err(CallError::NoOwner | CallError::NotConnected | CallError::Full) => return,
            Err(error) => panic!("call {number} on {uid}: {error}"),
        }
        if self.host.is_some() && (!whisper.is_for_owner() || thing.owner == self.host) {
            self.due_to_host.insert(number);
        }
        for (connection, view) in &mut self.views {
            let is_right = !whisper.is_for_owner() || thing.owner == Some(*connection);
            if whisper.is_reliable() && is_right && view.joined.is_some() && view.seen.contains(&uid) {
                view.rights.due.insert(number, made);
            }
        }
    }

    /// Returns whether a packet made for a connection in this tick may contain the secret of a call.
    pub(crate) fn may_hear(&self, (connection, view): (ConnectionId, &View), canary: Canary) -> bool {
        let made = self.calls.made.get(canary.version as usize).filter(|made| made.uid == canary.object);
        let Some(made) = made.filter(|made| Whisper::of(canary) == Some(made.whisper)) else {
            // These bits are the end of one secret and the start of another.
            return true;
        };
        let thing = &self.things[made.uid as usize];
        let (sees, owns) = match view.rights.last.get(&made.uid) {
            Some(was_owner) => (true, *was_owner),
            None => (view.seen.contains(&made.uid), thing.owner == Some(connection)),
        };
        sees && (owns || !made.whisper.is_for_owner())
    }

    /// Polls the calls for the host. All calls that were made for the host since the last time must be there,
    /// except calls on objects that were despawned since then, and calls for the owner of an object that the
    /// host no longer owns.
    pub(crate) fn hear_as_host(&mut self, heard: &mut Heard, has_birds: bool) {
        let Some(plan) = self.whispers else { return };
        let mut due = std::mem::take(&mut self.due_to_host);
        let host = self.server.host().map(|host| host.id());
        due.retain(|&number| {
            let made = self.calls.made[number as usize];
            let is_owner = self.things[made.uid as usize].owner == host;
            self.is_alive(made.uid) && (is_owner || !made.whisper.is_for_owner())
        });
        let mut numbers = heard.take_for_host::<Actor>(self, plan);
        numbers.append(&mut heard.take_for_host::<Dot>(self, plan));
        if has_birds {
            numbers.append(&mut heard.take_for_host::<Bird>(self, plan));
        }
        assert_eq!(numbers, due);
    }

    /// Drops the calls that the server would run itself.
    pub(crate) fn drop_own_calls(&mut self, has_birds: bool) {
        while self.server.poll_call::<Actor>().is_some() {}
        while self.server.poll_call::<Dot>().is_some() {}
        while has_birds && self.server.poll_call::<Bird>().is_some() {}
    }
}

/// The calls that a client has heard.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    all: BTreeSet<u32>,
    /// The newest reliable call of each object.
    newest: BTreeMap<u32, u32>,
}

impl Heard {
    /// Polls the calls that a client has received.
    pub(crate) fn hear(
        &mut self,
        client: &mut Client,
        (world, connection): (&mut World, ConnectionId),
        plan: Whispers,
        has_birds: bool,
    ) {
        self.hear_all::<Actor>(client, (world, connection), plan);
        self.hear_all::<Dot>(client, (world, connection), plan);
        if has_birds {
            self.hear_all::<Bird>(client, (world, connection), plan);
        }
    }

    fn hear_all<T: Whisperer>(
        &mut self,
        client: &mut Client,
        (world, connection): (&mut World, ConnectionId),
        plan: Whispers,
    ) {
        while let Some(received) = client.poll_call::<T>() {
            let number = self.hear_one(received, world, connection, plan);
            world.views.get_mut(&connection).expect("a view for each seat").rights.due.remove(&number);
        }
    }

    /// Polls the calls of a class for the host, and returns their numbers.
    fn take_for_host<T: Whisperer>(&mut self, world: &mut World, plan: Whispers) -> BTreeSet<u32> {
        let mut numbers = BTreeSet::new();
        while let Some(mut host) = world.server.host()
            && let Some(received) = host.poll_call::<T>()
        {
            let id = host.id();
            numbers.insert(self.hear_one(received, world, id, plan));
        }
        numbers
    }

    /// Checks a call that a player has received. Returns the number of the call.
    fn hear_one<T: Whisperer>(
        &mut self,
        received: ReceivedCall<T, T::Call>,
        world: &World,
        connection: ConnectionId,
        plan: Whispers,
    ) -> u32 {
        let (whisper, (secret, bytes)) = T::take_apart(received.call);
        let number = secret as u32 & 0xff_ffff;
        let made = world.calls.made[number as usize];
        assert_eq!(world.things[made.uid as usize].guid, received.object.guid().expect("an object"));
        assert_eq!((made.whisper, bytes), (whisper, ballast(secret, number, plan.is_large)));
        assert!(self.all.insert(number), "{connection:?} has heard call {number} twice: {made:?}");
        if whisper.is_reliable() {
            let before = self.newest.insert(made.uid, number);
            assert!(before < Some(number), "{connection:?} has heard {number} after {before:?}: {made:?}");
        }
        number
    }

    /// Returns how many calls the client has heard.
    pub(crate) fn count(&self) -> u64 {
        self.all.len() as u64
    }
}
