using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Amount = Shop.Money.Amount;

namespace Shop.Stores
{
    /// <summary>What can be sold.</summary>
    public record Article(string Name, decimal Price, params string[] Tags)
    {
        public Kind Kind => Price switch
        {
            < 10 => Kind.Cheap,
            < 100 => Kind.Usual,
            _ => Kind.Dear,
        };
    }

    public enum Kind { Cheap, Usual = 5, Dear }

    public readonly struct Change
    {
        public Change(Article article, bool isNew) { Article = article; IsNew = isNew; }
        public Article Article { get; }
        public bool IsNew { get; }
    }

    public delegate void Changed(object sender, Change change);

    public interface ICounter<in T> where T : notnull
    {
        int Count(T of);
        bool Has(T of) => Count(of) > 0;
    }

    public class MissingException : Exception
    {
        public MissingException(string name) : base($"no such article: {name}") { }
    }

    public abstract class Base<T> : IEnumerable<T>
    {
        protected readonly string? owner;
        protected Base(string? owner) => this.owner = owner;
        public abstract IEnumerator<T> GetEnumerator();
        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
        public virtual string Describe() => $"{owner ?? "nobody"} has {this.Count()}";
    }

    public sealed class Store : Base<Article>, ICounter<Kind>, IDisposable
    {
        public const int Most = 1_000;
        private readonly Dictionary<string, Article> articles = new();
        private int changes;

        public event Changed? Changed;

        public Store(string? owner = null) : base(owner) { }

        public Article this[string name]
        {
            get => articles.TryGetValue(name, out var found) ? found : throw new MissingException(name);
            set { Put(value with { Name = name }); }
        }

        public int Changes
        {
            get { return changes; }
            private set { changes = value; }
        }

        public Store Put(Article article)
        {
            var isNew = !articles.ContainsKey(article.Name);
            if (isNew && articles.Count >= Most)
                throw new InvalidOperationException("the store is full");
            articles[article.Name] = article;
            Changes++;
            Changed?.Invoke(this, new Change(article, isNew));
            return this;
        }

        public override IEnumerator<Article> GetEnumerator()
        {
            foreach (var article in articles.Values.OrderBy(each => each.Price).ThenBy(each => each.Name))
            {
                yield return article;
            }
        }

        public int Count(Kind of) => articles.Values.Count(each => each.Kind == of);

        public async Task<int> RaiseAsync(decimal by, Func<Article, bool>? wanted = null)
        {
            var done = 0;
            for (var i = 0; i < articles.Count; i++)
            {
                var article = articles.Values.ElementAt(i);
                if (wanted is not null && !wanted(article)) continue;
                await Task.Run(() => articles[article.Name] = article with { Price = article.Price * (1 + by) });
                done++;
            }
            return done;
        }

        public static Store operator +(Store one, Store other)
        {
            var both = new Store();
            foreach (var article in one.Concat(other)) both.Put(article);
            return both;
        }

        public void Dispose()
        {
            try { articles.Clear(); }
            catch (Exception error) when (error.Message.Length > 0) { Console.Error.WriteLine(error); }
            finally { Changed = null; }
        }
    }

    public static class Stores
    {
        public static Amount Total(this IEnumerable<Article> all)
        {
            decimal sum = 0;
            foreach (var (_, price, _) in all) sum += price;
            return new Amount(sum);
        }

        public static string Told(object what) => what switch
        {
            Article { Price: > 0 } article => article.Name,
            Store store => string.Join(", ", from each in store where each.Price > 1 select each.Name),
            null => "nothing",
            _ => what.ToString() ?? "",
        };

        public static void Main(string[] args)
        {
            using var store = new Store(args.Length > 0 ? args[0] : null);
            store.Changed += (_, change) => Console.WriteLine(Told(change.Article));
            store.Put(new Article("tea", 4.5m, "green")).Put(new("water", 0m));
            Console.WriteLine(store.Total());
        }
    }
}
