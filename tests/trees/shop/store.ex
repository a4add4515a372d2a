defmodule Shop.Article do
  @moduledoc "What can be sold."

  @enforce_keys [:name]
  defstruct name: "", price: 0.0, tags: []

  @type t :: %__MODULE__{name: String.t(), price: float(), tags: [String.t()]}

  @doc "How dear it is."
  @spec kind(t()) :: atom()
  def kind(%__MODULE__{price: price}) when price < 10, do: :cheap
  def kind(%__MODULE__{price: price}) when price < 100, do: :usual
  def kind(_), do: :dear
end

defprotocol Shop.Priced do
  @doc "The sum of what is in it."
  def total(what)
end

defmodule Shop.Listener do
  @callback changed(Shop.Article.t()) :: :ok | {:error, term()}
  @optional_callbacks changed: 1

  defmacro __using__(options) do
    quote do
      @behaviour Shop.Listener
      @word unquote(Keyword.get(options, :word, "changed"))

      def changed(article), do: IO.puts("#{@word} #{article.name}")
      defoverridable changed: 1
    end
  end
end

defmodule Shop.Store do
  @moduledoc "The articles of a shop, kept by a process."
  use GenServer

  alias Shop.{Article, Priced}
  import Enum, only: [map: 2, sort_by: 2]
  require Logger

  @most 1_000

  defstruct owner: nil, articles: %{}, listeners: []

  # What others call

  def start_link(owner \\ nil) do
    GenServer.start_link(__MODULE__, owner, name: __MODULE__)
  end

  def put(server, %Article{} = article), do: GenServer.call(server, {:put, article})

  def get(server, name) do
    case GenServer.call(server, {:get, name}) do
      {:ok, article} -> article
      :error -> raise KeyError, "no such article: #{name}"
    end
  end

  # What the process does

  @impl true
  def init(owner), do: {:ok, %__MODULE__{owner: owner}}

  @impl true
  def handle_call({:put, article}, _from, %{articles: articles} = store)
      when map_size(articles) < @most do
    tell(store.listeners, article)
    {:reply, :ok, %{store | articles: Map.put(articles, article.name, article)}}
  end

  def handle_call({:put, _}, _from, store), do: {:reply, {:error, :full}, store}

  def handle_call({:get, name}, _from, store) do
    {:reply, Map.fetch(store.articles, name), store}
  end

  @impl true
  def handle_info(message, store) do
    Logger.warning("not understood: #{inspect(message)}")
    {:noreply, store}
  end

  def sorted(%__MODULE__{articles: articles}) do
    articles
    |> Map.values()
    |> sort_by(& &1.price)
  end

  def grouped(store) do
    for article <- sorted(store), article.price > 0, reduce: %{} do
      found -> Map.update(found, Article.kind(article), [article], &[article | &1])
    end
  end

  def raise_prices(store, by) do
    with true <- by > 0,
         changed <- map(sorted(store), fn article -> %{article | price: article.price * (1 + by)} end) do
      {:ok, Map.new(changed, &{&1.name, &1})}
    else
      false -> {:error, :not_raised}
    end
  end

  defp tell([], _article), do: :ok

  defp tell([listener | others], article) do
    try do
      listener.changed(article)
    rescue
      error in RuntimeError -> Logger.error(Exception.message(error))
    after
      tell(others, article)
    end
  end

  defimpl Priced do
    def total(store) do
      store |> Shop.Store.sorted() |> Enum.reduce(0, fn article, sum -> sum + article.price end)
    end
  end
end
