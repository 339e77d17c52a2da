use repl::NetSerialize;

#[derive(NetSerialize, Clone)]
enum Stance {
    Idle,
    #[replicated(skip)]
    Run(u8),
}

fn main() {}
