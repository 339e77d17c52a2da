//! Checks that the clients have the entities of the server.

use bevy_ecs::prelude::*;

use crate::peer::Peer;
use crate::workload::{Number, Position};

/// Returns the first difference between a client and the server, if there is one.
pub(crate) fn difference(peer: &mut impl Peer) -> Option<String> {
    let wanted = content(peer.server().world_mut());
    peer.clients().iter_mut().enumerate().find_map(|(client, app)| {
        let content = content(app.world_mut());
        let reason = if content.len() == wanted.len() {
            let different = content.iter().zip(&wanted).filter(|(is, wanted)| is != wanted).count();
            (different > 0).then(|| format!("{different} of {} entities differ", wanted.len()))
        } else {
            Some(format!("{} of {} entities", content.len(), wanted.len()))
        };
        reason.map(|reason| format!("client {client}: {reason}"))
    })
}

/// Returns all entities of a world by their numbers.
fn content(world: &mut World) -> Vec<(u32, [u32; 3])> {
    let mut query = world.query::<(&Number, &Position)>();
    let mut content: Vec<_> = query.iter(world).map(|(number, at)| (number.get(), at.bits())).collect();
    content.sort_unstable();
    content
}
