#![forbid(unsafe_code)]
#![deny(warnings, unused, missing_docs, unreachable_pub, missing_debug_implementations)]
//! Calls of every kind, in every form.

use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[derive(NetSerialize, Clone)]
enum Order {
    Wait,
    Follow(ObjectRef<Player>),
}

mod heading {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(crate) const NAME: &str = "heading";

    pub(crate) fn write(value: &f32, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits((value.rem_euclid(1.0) * 256.0) as u64, 8);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<f32, ReadError> {
        Ok(reader.read_bits(8)? as f32 / 256.0)
    }
}

mod rules {
    pub(crate) fn may_turn(player: &super::Player, _: repl::ConnectionId, heading: &f32) -> bool {
        player.ammo > 0 && heading.is_finite()
    }
}

#[rpcs]
impl Player {
    const MOST: u8 = 9;
    const MOST_TURNS: u32 = 20;

    /// A call with a validator.
    #[rpc(server, reliable, validate = may_fire, per_second = 10)]
    fn fire(
        call: &mut ServerCall<'_, Self>,
        direction: u16,
        #[replicated(quantize(step = 0.01, range = -100.0..=100.0))] at: [f32; 3],
    ) {
        let _ = (call.object(), call.caller(), direction, at);
        call.ammo -= 1;
    }

    fn may_fire(&self, _caller: ConnectionId, direction: &u16, _at: &[f32; 3]) -> bool {
        self.ammo > 0 && *direction < 360
    }

    #[rpc(server, unreliable, validate = rules::may_turn, per_second = Self::MOST_TURNS)]
    fn turn(&mut self, #[replicated(with = heading)] mut angle: f32) {
        angle += 1.0;
        self.ammo += angle as u16;
    }

    #[rpc(client, reliable, waits)]
    fn hit(call: &mut ClientCall<'_, Self>, by: ObjectRef<Self>, damage: u16) {
        let _ = (call.client(), by, damage);
    }

    #[repl::rpc(multicast, unreliable)]
    fn explode(_: &mut MulticastCall<'_, Self>) {}

    #[rpc(multicast, reliable)]
    fn look(&self, call: u8, invocation: u8, parameter_1: u8) {
        let _ = (call, invocation, parameter_1);
    }

    #[rpc(server, reliable, name = "type")]
    fn r#type(&mut self, r#fn: String, #[replicated(range = 0..=Self::MOST)] order: u8) {
        let _ = (r#fn, order);
    }

    #[rpc(server, reliable)]
    fn command(orders: Vec<Order>);

    #[rpc(server, unreliable)]
    fn wave();
}

/// Makes and polls every call.
fn uses(client: &mut Client, server: &mut Server, player: ObjectRef<Player>) {
    let _ = client.call(player).fire(90, [0.0; 3]);
    let mut calls = server.call(player);
    let _ = (calls.turn(0.5), calls.hit(player, 3), calls.explode(), calls.look(1, 2, 3));
    let _ = (calls.r#type("a".into(), 1), calls.command(vec![Order::Wait, Order::Follow(player)]));
    let _ = calls.wave();
    while let Some(received) = server.poll_call::<Player>() {
        match received.call {
            PlayerCall::Fire { direction, at } => {
                let _ = (direction, at);
            }
            PlayerCall::Command { orders } => drop(orders),
            PlayerCall::Wave => {}
            _ => {}
        }
    }
}

#[test]
fn these_forms_are_accepted() {
    let _ = uses;
}
