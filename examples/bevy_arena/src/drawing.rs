//! A picture of the match: the field, coins, and players with their names, points and hats.

use bevy_app::App;
use bevy_ecs::prelude::*;
use std::fmt::Write;

use crate::game::{Coin, FIELD, Hat, Player, Position};

const COLOURS: [&str; 2] = ["#c0504d", "#4f81bd"];

/// Returns a picture of an app's view of the match, as SVG.
pub fn draw(app: &mut App) -> String {
    let world = app.world_mut();
    let mut picture = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {side} {side}" width="800" height="800">
<rect x="-2" y="-2" width="{side}" height="{side}" fill="#f4f1ea"/>
"##,
        side = FIELD + 4.0,
    );
    for Position([x, y]) in world.query_filtered::<&Position, With<Coin>>().iter(world) {
        writeln!(picture, r##"<circle cx="{x:.2}" cy="{y:.2}" r="0.35" fill="#d9a400"/>"##).ok();
    }
    let mut players = world.query::<(&Position, &Player, Option<&Children>)>();
    for (Position([x, y]), player, children) in players.iter(world) {
        let colour = COLOURS[usize::from(player.number) % COLOURS.len()];
        writeln!(picture, r#"<circle cx="{x:.2}" cy="{y:.2}" r="1" fill="{colour}"/>"#).ok();
        if children.is_some_and(|children| children.iter().any(|child| world.get::<Hat>(child).is_some())) {
            let (left, right, top) = (x - 0.8, x + 0.8, y - 2.0);
            let brim = y - 0.7;
            writeln!(
                picture,
                r##"<path d="M{left:.2} {brim:.2} L{x:.2} {top:.2} L{right:.2} {brim:.2} Z" fill="#333"/>"##
            )
            .ok();
        }
        let (number, score, below) = (player.number, player.score, y + 2.4);
        writeln!(
            picture,
            r##"<text x="{x:.2}" y="{below:.2}" font-size="1.4" text-anchor="middle" fill="#333">{number}: {score}</text>"##
        )
        .ok();
    }
    picture + "</svg>\n"
}
