use repl::NetSerialize;

#[derive(NetSerialize, Clone)]
enum Event {
    Nothing,
    At { time: std::time::Instant },
}

fn main() {}
