use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = NetGroup)]
    ammo: u16,
}

fn main() {}
