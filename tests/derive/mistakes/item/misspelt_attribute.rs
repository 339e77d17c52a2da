use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(quantise(step = 0.5, range = 0.0..=1.0))]
    kind: f32,
}

fn main() {}
