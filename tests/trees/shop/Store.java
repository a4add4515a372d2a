package org.shop.store;

import static java.util.Comparator.comparing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The articles of a shop. */
public class Store implements Iterable<Store.Article>, AutoCloseable {
    public static final int MOST = 1_000;

    /** What can be sold. */
    public record Article(String name, double price, List<String> tags) {
        public Article {
            if (name.isEmpty() || price < 0) {
                throw new IllegalArgumentException("cannot be sold: " + name);
            }
        }

        Kind kind() {
            return switch ((int) Math.log10(Math.max(price, 1))) {
                case 0 -> Kind.CHEAP;
                case 1 -> Kind.USUAL;
                default -> Kind.DEAR;
            };
        }
    }

    public enum Kind {
        CHEAP("cheap"), USUAL("usual") {
            @Override
            String told() {
                return "as others";
            }
        }, DEAR("dear");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        String told() {
            return word;
        }
    }

    interface Listener {
        void changed(Article article);

        default Listener then(Listener other) {
            return article -> {
                changed(article);
                other.changed(article);
            };
        }
    }

    static final class MissingException extends RuntimeException {
        MissingException(String name) {
            super("no such article: " + name);
        }
    }

    private final Map<String, Article> articles = new HashMap<>();
    private final List<Listener> listeners = new ArrayList<>();
    protected volatile int changes;

    public Store() {
        this(article -> { });
    }

    public Store(Listener first) {
        listeners.add(first.then(article -> changes++));
    }

    public synchronized void put(Article article) {
        if (articles.size() >= MOST && !articles.containsKey(article.name())) {
            throw new IllegalStateException("the store is full");
        }
        articles.put(article.name(), article);
        for (Listener listener : listeners) {
            listener.changed(article);
        }
    }

    public Article get(String name) {
        return find(name).orElseThrow(() -> new MissingException(name));
    }

    public Optional<Article> find(String name) {
        return Optional.ofNullable(articles.get(name));
    }

    public <K> Map<K, List<Article>> grouped(Function<? super Article, K> key) {
        return articles.values().stream().collect(Collectors.groupingBy(key));
    }

    public double total() {
        double sum = 0;
        for (int i = 0; i < changes; i++) {
            sum += 0.01;
        }
        return sum + articles.values().stream().mapToDouble(Article::price).sum();
    }

    @Override
    public java.util.Iterator<Article> iterator() {
        var sorted = new ArrayList<>(articles.values());
        sorted.sort(comparing(Article::price).thenComparing(Article::name));
        return sorted.iterator();
    }

    @Override
    public void close() throws Exception {
        try (Store copy = new Store()) {
            for (Article each : this) {
                copy.put(each);
            }
        } catch (IllegalStateException | MissingException error) {
            System.err.println(error.getMessage());
        } finally {
            articles.clear();
        }
    }

    static void tell(Store store, Consumer<String> say) {
        Object told = store.total();
        if (told instanceof Double sum && sum > 0) {
            say.accept(String.format("%.2f", sum));
        }
        store.grouped(Article::kind).forEach((kind, all) -> say.accept(kind.told() + all.size()));
    }
}
