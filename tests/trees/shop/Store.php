<?php

declare(strict_types=1);

namespace Shop\Store;

use ArrayIterator;
use Shop\Money\{Amount, Currency as Unit};
use function sprintf;

const MOST = 1_000;

/** What can be sold. */
final class Article implements \JsonSerializable
{
    public function __construct(
        public readonly string $name,
        public float $price,
        private array $tags = [],
    ) {
        if ($name === '' || $price < 0) {
            throw new \InvalidArgumentException("cannot be sold: {$name}");
        }
    }

    public function kind(): Kind
    {
        return match (true) {
            $this->price < 10 => Kind::Cheap,
            $this->price < 100 => Kind::Usual,
            default => Kind::Dear,
        };
    }

    public function jsonSerialize(): array
    {
        return ['name' => $this->name, 'price' => $this->price, 'tags' => $this->tags];
    }
}

enum Kind: string
{
    case Cheap = 'cheap';
    case Usual = 'usual';
    case Dear = 'dear';

    public static function words(): array
    {
        return array_map(fn (self $kind): string => $kind->value, self::cases());
    }
}

interface Listener
{
    public function changed(Article $article): void;
}

trait Listening
{
    /** @var Listener[] */
    private array $listeners = [];

    public function listen(Listener ...$listeners): static
    {
        foreach ($listeners as $listener) {
            $this->listeners[] = $listener;
        }
        return $this;
    }

    abstract protected function name(): string;

    protected function tell(Article $article): void
    {
        array_walk($this->listeners, function (Listener $each) use ($article): void {
            $each->changed($article);
        });
    }
}

abstract class Base implements \IteratorAggregate, \Countable
{
    protected static int $made = 0;

    public static function make(mixed ...$given): static
    {
        self::$made++;
        return new static(...$given);
    }

    abstract public function total(): Amount;
}

class MissingException extends \RuntimeException
{
}

class Store extends Base
{
    use Listening;

    /** @var array<string, Article> */
    private array $articles = [];

    public function __construct(private ?string $owner = null)
    {
    }

    public function put(Article $article): self
    {
        if (count($this->articles) >= MOST) {
            throw new \LengthException('the store is full');
        }
        $this->articles[$article->name] = $article;
        $this->tell($article);
        return $this;
    }

    public function get(string $name): Article
    {
        return $this->articles[$name] ?? throw new MissingException("no such article: $name");
    }

    public function total(): Amount
    {
        $sum = 0.0;
        foreach ($this as $name => $article) {
            $sum += $article->price;
        }
        return new Amount($sum, Unit::EUR);
    }

    public function getIterator(): \Iterator
    {
        return new ArrayIterator($this->articles);
    }

    public function count(): int
    {
        return \count($this->articles);
    }

    public function raise(float $by, ?callable $wanted = null): int
    {
        $done = 0;
        for ($i = 0, $all = array_values($this->articles); $i < count($all); $i++) {
            if ($wanted !== null && !$wanted($all[$i])) {
                continue;
            }
            $all[$i]->price *= 1 + $by;
            ++$done;
        }
        return $done;
    }

    protected function name(): string
    {
        return $this->owner ?? 'nobody';
    }

    public function __toString(): string
    {
        try {
            return sprintf('%s: %d', $this->name(), $this->count());
        } catch (\Throwable $error) {
            return get_class($error);
        } finally {
            self::$made = 0;
        }
    }
}

function report(Store $store): string
{
    $kinds = [];
    foreach ($store as $article) {
        $kinds[$article->kind()->value][] = $article->name;
    }
    ksort($kinds);
    return json_encode($kinds, JSON_THROW_ON_ERROR) . $store?->total();
}
