use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(ReplicatedUsing = on_ammo)]
    ammo: u16,
}

fn main() {}
