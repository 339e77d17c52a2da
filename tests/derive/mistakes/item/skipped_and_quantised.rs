use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    kind: u16,
    #[replicated(skip, quantize(step = 0.5, range = 0.0..=1.0))]
    wear: f32,
}

fn main() {}
