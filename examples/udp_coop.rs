//! A server and clients over UDP. Players walk, find a coin with each step, and buy hats when they can.
//!
//! *Invariant:* the self-test runs the code of the other commands, and measures all its figures.
#![expect(clippy::print_stdout, reason = "the example's output")]

use repl::prelude::*;
use repl::{Channel, Endpoint, EndpointConfig, Login, MessageOptions};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use std::{env, error::Error, io, process::ExitCode, sync::LazyLock, thread};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
const TICK: Duration = Duration::from_millis(10);
const INPUT: Channel = Channel::Sequenced { copies: 3 }; // each step is in the packets of three ticks
const STEPS: MessageOptions = MessageOptions { per_second: 110, ..MessageOptions::DEFAULT }; // one in a tick
const PACKETS: usize = 1_000; // received in a tick: a flood must not keep the loop busy for ever
const ROAD: u16 = 300;
const PURSE: u16 = 48;

#[derive(Replicated, Clone, Default, Debug, PartialEq)]
#[replicated(all)]
struct Player {
    #[replicated(condition = InitialOnly, max_len = 16)]
    name: String,
    position: u16,
    hats: u16,
    #[replicated(condition = OwnerOnly)]
    coins: u16,
}

#[derive(NetSerialize, Clone)]
struct Step(#[replicated(range = 1..=2)] u16);

#[rpcs]
impl Player {
    #[rpc(server, reliable, validate = may_buy, per_second = 20)]
    fn buy(&mut self, hats: u16) {
        if let Some(rest) = self.coins.checked_sub(hats * PURSE) {
            (self.coins, self.hats) = (rest, self.hats + hats);
        }
    }

    fn may_buy(&self, _caller: ConnectionId, hats: &u16) -> bool {
        *hats == 1 // no purse is worth more, so who asks for more has cheated, and is disconnected
    }
}

fn register(side: &mut impl Register) {
    side.register_calls::<Player>().register_message_with::<Step>(INPUT, STEPS);
}

fn random() -> [u8; 16] {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).expect("the operating system has random numbers");
    bits
}

struct Game {
    socket: UdpSocket,
    endpoint: Endpoint,
    server: Server,
}

impl Game {
    fn new(address: SocketAddr, players: Vec<Player>) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        let mut server = Server::new(ServerConfig { login: Login::Ask, ..ServerConfig::default() });
        register(&mut server);
        players.into_iter().for_each(|player| _ = server.spawn(player));
        let secret = u128::from_le_bytes(random());
        Ok(Self { socket, endpoint: Endpoint::new(EndpointConfig::default(), secret), server })
    }

    fn tick(&mut self) {
        let (now, mut buffer) = (START.elapsed(), [0; 1_500]);
        for _ in 0..PACKETS {
            let Ok((length, from)) = self.socket.recv_from(&mut buffer) else { break };
            self.endpoint.receive(&mut self.server, now, from, &buffer[..length]);
        }
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Login(id, login) = event {
                self.login(id, String::from_utf8_lossy(&login).into_owned());
            }
        }
        while let Some((from, Step(step))) = self.server.poll_message() {
            let Some((player, _)) = self.server.connection_info(from).owned_objects::<Player>().next() else {
                continue;
            };
            let player = &mut self.server[player];
            if player.position + step <= ROAD && player.coins + step <= PURSE {
                (player.position, player.coins) = (player.position + step, player.coins + step);
            }
        }
        self.server.tick(now); // calls run here
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            self.socket.send_to(packet, to).ok(); // what cannot be sent counts as lost
        }
    }

    /// In this example a name is enough. To be sure who the player is, let clients send a ticket too.
    fn login(&mut self, id: ConnectionId, name: String) {
        if !(1..=16).contains(&name.len()) {
            self.server.connection(id).refuse("a name has 1 to 16 bytes");
            return;
        }
        let known = self.server.objects::<Player>().find(|(_, old)| old.name == name).map(|(old, _)| old);
        let player = known.unwrap_or_else(|| self.server.spawn(Player { name, ..Player::default() }));
        if let Some(earlier) = self.server.object_info(player).owner() {
            self.server.connection(earlier).disconnect_with("somebody with your name has come");
        }
        self.server.object(player).set_owner(Some(id));
        self.server.connection(id).accept(&[]);
    }
}

struct Guest {
    socket: UdpSocket,
    client: Client,
}

impl Guest {
    fn new(server: SocketAddr, name: &str) -> io::Result<Self> {
        let socket = UdpSocket::bind(if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
        socket.connect(server)?;
        socket.set_nonblocking(true)?;
        let mut client = Client::new(
            ClientConfig { login: name.into(), ..Default::default() },
            Session::from_random(random()),
        );
        register(&mut client);
        Ok(Self { socket, client })
    }

    fn tick(&mut self) {
        let (now, mut buffer) = (START.elapsed(), [0; 1_500]);
        for _ in 0..PACKETS {
            let Ok(length) = self.socket.recv(&mut buffer) else { break };
            self.client.receive(now, &buffer[..length]).ok(); // what ends the session is an event too
        }
        while let Some(event) = self.client.poll_event() {
            eprintln!("{event:?}");
        }
        self.client.send(&Step(1)).ok(); // an error without a connection
        for change in self.client.changes::<Player>() {
            if self.client[change.object].coins == PURSE {
                self.client.call(change.object).buy(1).ok();
            }
        }
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            self.socket.send(packet).ok();
        }
    }
}

/// Plays until `done` returns true. Returns `false` if the time `most` has passed before.
fn play(games: &mut [Game], guests: &mut [Guest], most: Duration, done: impl Fn(&[Guest]) -> bool) -> bool {
    let start = Instant::now();
    while !done(guests) && start.elapsed() < most {
        games.iter_mut().for_each(Game::tick);
        guests.iter_mut().for_each(Guest::tick);
        thread::sleep(TICK);
    }
    done(guests)
}

fn self_test() -> io::Result<bool> {
    let mut games = vec![Game::new(SocketAddr::from(([127, 0, 0, 1], 0)), vec![])?];
    let (address, most) = (games[0].socket.local_addr()?, Duration::from_secs(8));
    let players = |game: &Game| game.server.objects().map(|(_, one)| Player::clone(one)).collect::<Vec<_>>();
    let place = |guest: &Guest| {
        guest.client.connection_info().owned_objects::<Player>().next().map(|(_, me)| me.position)
    };
    let mut guests = [Guest::new(address, "Ada")?, Guest::new(address, "")?]; // a name is missing
    let refused = play(&mut games, &mut guests, most, |all| {
        place(&all[0]) > Some(50) && all[1].client.connection_info().is_over()
    });
    guests[1] = Guest::new(address, "Bob")?;
    let late = play(&mut games, &mut guests, most, |all| place(&all[1]) > Some(50));
    guests[1] = Guest::new(address, "Bob")?; // his program is killed and started again, with another socket
    let reconnected = play(&mut games, &mut guests, most, |all| place(&all[1]) > Some(50));
    let (saved, instance) = (players(&games[0]), guests[0].client.connection_info().server_instance());
    let old: Vec<_> = guests[0].client.objects::<Player>().map(|(object, _)| object).collect();
    games.clear(); // the server's program is killed and started again; the players were kept, as in a file
    play(&mut games, &mut guests, TICK * 20, |_| false);
    games.push(Game::new(address, saved)?);
    let is_back =
        |one: &Guest| one.client.is_connected() && one.client.connection_info().server_instance() != instance;
    let restarted = play(&mut games, &mut guests, most, |all| all.iter().all(is_back));
    let stale = old.iter().filter(|&&old| guests.iter().any(|guest| guest.client.contains(old))).count();
    let steps = |one: &Guest| one.client.objects::<Player>().map(|(_, player)| player.position).sum::<u16>();
    play(&mut games, &mut guests, most, |all| all.iter().all(|one| steps(one) == 2 * ROAD));
    let truth = players(&games[0]);
    let equal = guests.iter().all(|Guest { client, .. }| {
        let is_true = |&(object, shown): &(_, &Player)| {
            let coins =
                |player: &Player| if client.object_info(object).is_owner() { player.coins } else { 0 };
            truth.iter().any(|player| *shown == Player { coins: coins(player), ..player.clone() })
        };
        client.objects().filter(is_true).count() == 2 && client.objects::<Player>().count() == 2
    });
    let (moves, calls) = truth.iter().fold((0, 0), |sum, one| (sum.0 + one.position, sum.1 + one.hats));
    print!(r#"{{"converged":{equal},"moves":{moves},"calls":{calls},"late_join":{late},"stale":{stale},"#);
    println!(r#""refused":{refused},"reconnected":{reconnected},"server_restarted":{restarted}}}"#);
    Ok(equal && refused && late && reconnected && restarted && (moves, calls, stale) == (600, 12, 0))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (arguments, most) = (env::args().skip(1).collect::<Vec<_>>(), Duration::MAX);
    let is_over = |all: &[Guest]| all[0].client.connection_info().is_over();
    let is_well = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", at] => play(&mut [Game::new(at.parse()?, vec![])?], &mut [], most, |_| false),
        ["client", at, me] => play(&mut [], &mut [Guest::new(at.parse()?, me)?], most, is_over),
        ["--self-test", ..] => self_test()?,
        _ => return Err("udp_coop server ADDRESS | client ADDRESS NAME | --self-test --json".into()),
    };
    Ok(ExitCode::from(u8::from(!is_well)))
}
