//! Whole matches on bad networks: the requests of clients, and the decisions of the server.
//!
//! *Invariant:* the tests compare what one side counted with what the other side counted, or with a rule of
//! the game.

use clap::Parser;
use repl::prelude::*;

use crate::args::Args;
use crate::report::Outcome;
use arena_game::calls::{Input, MOST_FIRE_TICKS, SHOT_TICKS};
use arena_game::game::{Arena, TICKS_PER_SECOND};
use arena_game::guest::Guest;
use arena_game::model::Player;
use arena_game::plane::{EDGE, distance};
use arena_game::session::Session;

/// Plays a whole match.
fn play(line: &str) -> (Session, Outcome) {
    let args = ["arena"].into_iter().chain(line.split_whitespace());
    crate::play(&Args::parse_from(args), |_, _| {}).expect("the simulated network works")
}

fn id(guest: &Guest) -> ConnectionId {
    guest.connection.expect("the client has joined")
}

#[test]
fn reliable_calls_run_once_on_a_bad_network() {
    let (session, outcome) = play("--loss 0.4 --ticks 1200 --seed 3");
    assert!(outcome.is_good());
    for guest in &session.guests {
        let seat = session.sight.seats[&id(guest)];
        let (player, replica) = (&session.server[seat], &guest.client[seat]);
        assert_eq!(player.shots_called, guest.pilot.shots_called, "each shot runs once on the server");
        assert_eq!(replica.hits_felt, player.hits_told, "each hit runs once on the client");
        assert!(guest.pilot.explosions <= session.explosions, "no explosion is shown twice");
    }
    let sum =
        |count: fn(&Player) -> u32| session.server.objects().map(|(_, player)| count(player)).sum::<u32>();
    assert!(sum(|player| player.shots_called) > 20 && sum(|player| player.hits_told) > 5);
    assert!(session.guests.iter().any(|guest| guest.pilot.explosions > 0));
}

#[test]
fn the_chat_reaches_every_client_once_and_in_order() {
    let (session, outcome) = play("--loss 0.3 --jitter-ms 200 --clients 6 --ticks 900 --seed 5");
    assert!(outcome.is_good());
    let said: u32 = session.guests.iter().map(|guest| guest.pilot.lines_said).sum();
    assert!(said >= 6 && session.chat.line_count() == said as usize, "each line was passed on once");
    let heard = || session.guests.iter().map(|guest| &guest.pilot.heard);
    let longest = heard().max_by_key(|heard| heard.len()).expect("six clients");
    assert!(heard().all(|heard| longest.ends_with(heard)), "everyone hears the same from its join on");
    for guest in &session.guests {
        let name = &session.server[session.sight.seats[&id(guest)]].name;
        assert!(guest.pilot.heard.iter().any(|line| line.name == *name), "authors hear their lines too");
    }
}

#[test]
fn a_host_plays_with_two_guests_as_one_of_them() {
    let (session, outcome) = play("--host --loss 0.2 --ticks 1200 --seed 4");
    assert!(outcome.is_good());
    assert_eq!(session.guests.len(), 2);
    let host = session.host.as_ref().expect("a host");
    let (seat, seats) = (session.sight.seats[&host.connection], &session.sight.seats);
    assert!(session.guests.iter().all(|guest| seats.contains_key(&id(guest))));
    let player = &session.server[seat];
    assert!(host.pilot.shots_called > 5 && player.shots_called == host.pilot.shots_called);
    assert!(player.hits_told > 0 && player.hits_felt == player.hits_told);
    assert!(host.pilot.lines_said > 0 && host.pilot.heard.len() == session.chat.line_count());
    assert!(host.pilot.explosions == session.explosions && session.explosions > 0);
    // The notifies of the host count health that players lost. The notifies of each client count the same
    // since the client joined.
    for guest in &session.guests {
        let copies = guest.client.objects::<Player>();
        let seen: u32 = copies.map(|(_, player)| player.damage_seen).sum();
        assert!(seen > 0 && seen <= arena_game::host::HostPlayer::damage_seen(&session.server));
    }
}

#[test]
fn a_cheater_is_stopped_and_the_others_play_on() {
    let (session, outcome) = play("--cheater --loss 0.2 --seed 7");
    assert_eq!((outcome.is_good(), outcome.cheater_stopped), (true, Some(true)));
    let (cheater, honest) = session.guests.split_last().expect("four clients");
    assert!(cheater.is_rejected && cheater.ended.is_some() && !cheater.client.is_connected());
    assert!(!session.sight.seats.contains_key(&id(cheater)), "a bot plays its player again");
    assert_eq!(honest.len(), 3);
    for guest in honest {
        assert!(guest.ended.is_none() && session.difference(guest).is_none());
    }
}

#[test]
fn the_arguments_decide_the_run() {
    let line = "--loss 0.3 --jitter-ms 100 --clients 6";
    let ((one, _), (other, _), (another, _)) = (play(line), play(line), play(&format!("{line} --seed 2")));
    assert_eq!((one.sent(), one.explosions), (other.sent(), other.explosions));
    assert_ne!(one.sent(), another.sent());
}

#[test]
fn honest_clients_are_never_rejected_however_bad_the_network_is() {
    let (session, outcome) = play("--loss 0.7 --latency-ms 300 --jitter-ms 300 --ticks 900");
    assert_eq!((outcome.is_good(), outcome.cheater_stopped), (true, None));
    assert!(session.guests.iter().any(|guest| guest.pilot.shots_called > 0));
    // Clients learn late that the match is over, so they continue to play for a while.
    for seed in 1..=8 {
        let (session, _) = play(&format!("--loss 0.7 --latency-ms 1000 --jitter-ms 1000 --seed {seed}"));
        assert!(session.guests.iter().all(|guest| !guest.is_rejected), "seed {seed}");
    }
}

#[test]
fn a_shot_of_a_dead_player_has_no_effect_and_is_no_reason_to_reject() {
    let mut player = Player { fire_ticks: SHOT_TICKS, ..Player::default() };
    let caller = Server::new(ServerConfig::default()).connect(std::time::Duration::ZERO);
    let call = arena_game::calls::PlayerCall::Fire { at: [1.0; 2] };
    assert!(!player.is_alive() && player.allows(caller, &call));
    player.fire([1.0; 2]);
    assert_eq!(player.mind.aims_at, None);
    assert!(!player.allows(caller, &call), "one shot was allowed");
    (player.health, player.fire_ticks) = (1, MOST_FIRE_TICKS);
    player.fire([1.0; 2]);
    assert_eq!(player.mind.aims_at, Some([1.0; 2]));
}

#[test]
fn a_client_can_neither_leave_the_field_nor_run_faster() {
    let mut server = Server::new(ServerConfig::default());
    arena_game::calls::register(&mut server);
    let mut arena = Arena::new(&mut server, 8, 600, 1);
    let connection = server.connect(std::time::Duration::ZERO);
    let me = arena.players[0];
    let friend = arena.players[2];
    server.object(me).set_owner(Some(connection));
    for _ in 0..200 {
        let (before, was_alive) = (server[me].position, server[me].is_alive());
        arena.steer(&mut server, me, &Input { goal: [1_000.0, 0.0], target: friend });
        arena.play(&mut server);
        let Player { position: after, target, .. } = server[me];
        assert!(after.iter().all(|coordinate| coordinate.abs() <= EDGE));
        assert!(target.is_null(), "nobody aims at a friend");
        if was_alive {
            assert!(distance(before, after) <= 9.0 / TICKS_PER_SECOND as f32 + 1e-3);
            let [left_before, left] = [before, after].map(|point| distance(point, [EDGE, 0.0]));
            assert!(left < left_before || left < 0.2, "the client decides where its player runs");
        }
    }
}

#[test]
fn the_picture_has_the_ways_of_all_players_and_the_bytes() {
    let args = Args::parse_from(["arena", "--ticks", "240"]);
    let mut film = crate::film::Film::default();
    let (session, _) =
        crate::play(&args, |session, tick| film.record(session, tick)).expect("the simulated network works");
    let picture = crate::picture::svg(&film, &session);
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    for (_, player) in session.server.objects::<Player>() {
        assert!(picture.contains(&format!(">{}</text>", player.name)), "{} is not in it", player.name);
    }
    assert!(film.tracks.iter().any(|track| !track.ways(true).is_empty()));
    assert!(film.bytes.is_sorted() && picture.contains("bytes a second to each of 4 clients over 4 s"));
}
