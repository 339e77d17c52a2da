//! What an app knows about the match, to compare the apps of a server and of clients.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl_bevy::Owned;

use crate::game::{Bag, Coin, Hat, Player, Position};

/// Returns an app's view of the match, as JSON: its own player, all players by their numbers, and the coins,
/// sorted by their positions.
pub fn take(app: &mut App) -> String {
    let world = app.world_mut();
    let own = world.query_filtered::<&Player, With<Owned>>().iter(world).next();
    let own = own.map_or_else(|| "null".to_owned(), |player| player.number.to_string());
    let mut players = world.query::<(&Player, &Position, &Bag, Option<&Children>)>();
    let mut rows: Vec<_> = players
        .iter(world)
        .map(|(player, Position([x, y]), bag, children)| {
            let hats = children.into_iter().flatten().filter(|child| world.get::<Hat>(**child).is_some());
            let items: Vec<_> = bag.items.iter().map(|item| item.kind).collect();
            let (number, score, hats) = (player.number, player.score, hats.count());
            format!(r#""{number}":{{"position":[{x},{y}],"score":{score},"items":{items:?},"hats":{hats}}}"#)
        })
        .collect();
    rows.sort_unstable();
    let mut coins: Vec<_> =
        world.query_filtered::<&Position, With<Coin>>().iter(world).map(|at| at.0).collect();
    coins.sort_unstable_by_key(|at| at.map(f32::to_bits));
    format!(r#"{{"own":{own},"players":{{{}}},"coins":{coins:?}}}"#, rows.join(","))
}
