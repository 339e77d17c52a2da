//! What server and clients send each other in addition to the objects: inputs, messages and remote calls.
//!
//! *Invariant:* clients ask and the server decides. A client cannot make its player do more than a bot of the
//! server could do.

use repl::prelude::*;

use crate::model::{Match, Player};
use crate::plane::Vec2;

/// The least number of ticks between two shots.
pub const SHOT_TICKS: u32 = 14;

/// The greatest number of saved ticks: a minute. A player saves one tick in each tick, and a shot uses
/// `SHOT_TICKS` of them. On a bad link reliable calls arrive late and many at once, so a player needs saved
/// ticks.
pub const MOST_FIRE_TICKS: u32 = 3_600;

/// What a client wants its player to do in a tick.
#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct Input {
    /// The point to which the player runs.
    #[replicated(quantize(step = 0.1, range = -25.0..=25.0))]
    pub goal: Vec2,
    /// The player at whom the player of the client looks.
    pub target: ObjectRef<Player>,
}

/// A line of the chat. A client sends the text, and the server passes it on to all clients.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub struct Chat {
    /// The server fills this in, so that no client can speak for another.
    #[replicated(max_len = 24)]
    pub name: String,
    #[replicated(max_len = 40)]
    pub text: String,
}

#[rpcs]
impl Player {
    /// Lets the player of the client shoot at a point, as soon as the weapon is ready.
    #[rpc(server, reliable, validate = may_fire)]
    pub fn fire(&mut self, #[replicated(quantize(step = 0.1, range = -25.0..=25.0))] at: Vec2) {
        self.shots_called += 1;
        self.fire_ticks -= SHOT_TICKS;
        self.mind.aims_at = Some(at).filter(|_| self.is_alive());
    }

    /// Rejects only calls that an honest client never makes: more shots than the weapon allows in that time.
    /// An honest client may call `fire` when its player is already dead or has no rounds left, because the
    /// client learns this late. Such a call has no effect.
    fn may_fire(&self, _: ConnectionId, _: &Vec2) -> bool {
        self.fire_ticks >= SHOT_TICKS
    }

    /// Tells the client that a shot hit its player. The call waits until the client sees the shooter `by`,
    /// who may be cloaked, for example.
    #[rpc(client, reliable, waits)]
    pub fn hit(&mut self, by: ObjectRef<Self>) {
        self.hits_felt += 1;
        self.hit_by = by;
    }
}

#[rpcs]
impl Match {
    /// Tells all clients that a rocket has exploded at a point. The call has no body: both sides poll it and
    /// count it.
    #[rpc(multicast, unreliable)]
    pub fn explode(#[replicated(quantize(step = 0.1, range = -25.0..=25.0))] at: Vec2);
}

/// Registers all inputs, messages and calls at a server or a client.
pub fn register(side: &mut impl Register) {
    side.register_inputs::<Input>().register_message::<Chat>(Channel::Ordered);
    side.register_calls::<Player>().register_calls::<Match>();
}
