//! Plays with a server and clients in one process over sockets, and checks the state of the clients.

use bevy_app::App;
use bevy_arena::bot::Notes;
use bevy_arena::drawing::draw;
use bevy_arena::game::{Bag, Hat, Plan, Player};
use bevy_ecs::prelude::*;
use repl_bevy::{PredictionCounts, Remote};
use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::{Args, Fallible, client, server};

struct Match {
    address: SocketAddr,
    /// How many players the process of the server has: one if it is a host, else none.
    hosts: usize,
    server: Option<App>,
    clients: Vec<App>,
}

/// For each player the score, the number of items, and whether the player has a hat.
type View = BTreeMap<u16, (u32, usize, bool)>;

pub(crate) fn run(args: &Args) -> Fallible<()> {
    let address = UdpSocket::bind("127.0.0.1:0")?.local_addr()?;
    let server = Some(server(address, args.host)?);
    let clients = vec![client(address)?, client(address)?];
    let mut game = Match { address, hosts: usize::from(args.host), server, clients };
    let started = game.plays_until(20, Match::are_all_here);
    game.plays_until(3, |_| false);
    game.clients.push(client(address)?);
    let late_joiner = game.plays_until(20, Match::are_all_here);
    let plans = game.clients.iter_mut().map(plans).max().unwrap_or(0);
    let rollbacks: u64 = game.clients.iter().map(rollbacks).sum();
    let server_restarted = game.restart()? && game.plays_until(30, Match::are_all_here);
    let told = game.plays_until(20, Match::are_told);
    let converged = started && told && plans <= 2 && game.plays_until(10, Match::are_equal);
    if let (Some(file), Some(client)) = (&args.svg, game.clients.first_mut()) {
        fs::write(file, draw(client))?;
    }
    if args.json {
        println!(
            r#"{{"converged":{converged},"late_joiner":{late_joiner},"server_restarted":{server_restarted},"rollbacks":{rollbacks},"told":{told},"most_plans":{plans}}}"#
        );
    } else {
        println!("converged: {converged}, late joiner: {late_joiner}, server restarted: {server_restarted}");
    }
    if converged && late_joiner && server_restarted {
        Ok(())
    } else {
        Err("the match did not go well".into())
    }
}

impl Match {
    /// Plays until `holds` returns true. Returns false if this takes longer than `seconds`.
    fn plays_until(&mut self, seconds: u64, mut holds: impl FnMut(&mut Self) -> bool) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(seconds) {
            if holds(self) {
                return true;
            }
            self.server.iter_mut().chain(&mut self.clients).for_each(App::update);
            thread::sleep(Duration::from_millis(2));
        }
        false
    }

    /// Returns whether each player sees itself and all others with their hats. All players are near each
    /// other, so none may be missing.
    fn are_all_here(&mut self) -> bool {
        let players = self.hosts + self.clients.len();
        self.clients.iter_mut().all(|client| {
            let view = view::<With<Remote>>(client);
            view.len() == players && view.values().all(|(_, _, has_hat)| *has_hat)
        })
    }

    /// Returns whether each player has read a message and seen a call.
    fn are_told(&mut self) -> bool {
        let hosts = self.server.iter().take(self.hosts);
        self.clients.iter().chain(hosts).all(|app| notes(app).heard > 0 && notes(app).cheers > 0)
    }

    fn are_equal(&mut self) -> bool {
        let Some(expected) = self.server.as_mut().map(view::<()>) else { return false };
        expected.values().any(|(score, ..)| *score > 0)
            && self.clients.iter_mut().all(|client| view::<With<Remote>>(client) == expected)
    }

    /// Ends the process of the server without telling the clients, and starts another server.
    fn restart(&mut self) -> Fallible<bool> {
        self.server = None;
        self.server = Some(server(self.address, self.hosts > 0)?);
        Ok(self.plays_until(30, |game| game.clients.iter().all(|client| notes(client).joined == 2)))
    }
}

fn view<F: bevy_ecs::query::QueryFilter>(app: &mut App) -> View {
    let world = app.world_mut();
    let mut players = world.query_filtered::<(&Player, &Bag, Option<&Children>), F>();
    let hat = |children: Option<&Children>| {
        children.is_some_and(|children| children.iter().any(|child| world.get::<Hat>(child).is_some()))
    };
    let rows = players.iter(world);
    rows.map(|(player, bag, children)| (player.number, (player.score, bag.items.len(), hat(children))))
        .collect()
}

/// Returns the counters of the bot in this app.
fn notes(app: &App) -> &Notes {
    app.world().resource()
}

/// Returns the number of plans that an app has. A client should have only the plans of its team.
fn plans(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query::<&Plan>().iter(world).count()
}

fn rollbacks(app: &App) -> u64 {
    app.world().resource::<PredictionCounts>().0.rollbacks
}
