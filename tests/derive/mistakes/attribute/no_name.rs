use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated("push")]
    ammo: u16,
}

fn main() {}
