use repl::NetSerialize;

#[derive(NetSerialize, Clone)]
enum Stance {
    Idle,
    #[replicated(name = "Idle")]
    Standing,
}

fn main() {}
